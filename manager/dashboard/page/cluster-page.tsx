import { HealthDot, Meter, Notice, Wagon } from './parts.tsx';
import { jobsAt } from './place.ts';
import { yard } from './state.tsx';
import { count } from './words.ts';
import { clustersIn } from './yard-model.ts';

/** One worker cluster: how it is, how full, and what runs there. */
export function ClusterPage({ name }: { readonly name: string }) {
  const cluster = clustersIn(yard.value ?? new Map()).find((each) => each.name === name);
  if (cluster === undefined) return <Notice isPage kind="none" title={`There is no cluster ${name} that you may see`} />;
  const { health, state, problem, roundTripMs, version, fills, jobs, running } = cluster;
  return (
    <article class="job-page">
      <p class="crumbs">
        <a href="#/yard">Yard</a> / clusters /
      </p>
      <header>
        <HealthDot health={health} label={state} />
        <h1>{name}</h1>
        <span class="soft">
          {state} · {count(jobs, 'Job')}
          {roundTripMs === undefined ? '' : ` · answers in ${roundTripMs} ms`}
          {version === undefined ? '' : ` · Kubernetes ${version}`}
        </span>
      </header>
      {problem !== undefined && <p class="problem">{problem}</p>}
      <div class="columns">
        <div class="main-column">
          <section class="card">
            <h2>
              On it <a href={jobsAt({ cluster: name, state: 'Running,Dispatching,Resting' })}>as a table</a>
            </h2>
            <div class="wagons">
              {running.map((job) => (
                <Wagon key={job.key} job={job} />
              ))}
              {running.length === 0 && <p class="empty">No Job of yours is here.</p>}
            </div>
          </section>
        </div>
        <aside>
          <section class="card">
            <h2>What its Jobs ask for, of what it has</h2>
            <div class="meters">
              {fills.map((fill) => (
                <Meter key={fill.resource} fill={fill} label={fill.resource} />
              ))}
            </div>
          </section>
          <section class="card">
            <h2>On the command line</h2>
            {['cordon', 'drain', 'uncordon'].map((verb) => (
              <p key={verb} class="command">
                <code>
                  switchyard clusters {verb} {name}
                </code>
              </p>
            ))}
          </section>
        </aside>
      </div>
    </article>
  );
}
