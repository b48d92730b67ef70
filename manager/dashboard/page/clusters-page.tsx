import { ADMITTED, HealthDot, Meter, Notice } from './parts.tsx';
import { clusterAt, jobsAt } from './place.ts';
import { overview } from './state.tsx';
import { clustersIn } from './overview-model.ts';

/** All clusters that the viewer may see: how they are, and how full. */
export function ClustersPage() {
  const clusters = clustersIn(overview.value ?? new Map());
  return (
    <article class="job-page">
      <header>
        <h1>Clusters</h1>
      </header>
      {clusters.length === 0 ? (
        <Notice kind="none" title="There is no cluster that you may see" about="They are shown to those who may get workerclusters." />
      ) : (
        <section class="card">
          <table class="rows">
            <thead>
              <tr>
                <th>Cluster</th>
                <th>State</th>
                <th class="num">Jobs</th>
                <th>Asked for, of what it has</th>
                <th class="num">Answers in</th>
                <th>Kubernetes</th>
              </tr>
            </thead>
            <tbody>
              {clusters.map(({ name, health, state, problem, jobs, fills, roundTripMs, version }) => (
                <tr key={name}>
                  <td>
                    <HealthDot health={health} label={state} /> <a href={clusterAt(name)}>{name}</a>
                  </td>
                  <td data-label="State">
                    {state}
                    {problem !== undefined && <p class="problem">{problem}</p>}
                  </td>
                  <td class="num" data-label="Jobs">
                    <a href={jobsAt({ cluster: name, state: ADMITTED })}>{jobs.toLocaleString('en')}</a>
                  </td>
                  <td class="fills">
                    {fills.map((fill) => (
                      <Meter key={fill.resource} fill={fill} label={fill.resource} />
                    ))}
                  </td>
                  <td class="num" data-label="Answers in">
                    {roundTripMs === undefined ? '' : `${roundTripMs} ms`}
                  </td>
                  <td data-label="Kubernetes">{version}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </article>
  );
}
