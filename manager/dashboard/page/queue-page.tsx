import { Meter, Notice, Wagon } from './parts.tsx';
import { jobsAt } from './place.ts';
import { yard } from './state.tsx';
import { count } from './words.ts';
import { itemsOf } from './yard-model.ts';

/** One ClusterQueue: its quota, who uses it, and what waits. */
export function QueuePage({ name }: { readonly name: string }) {
  const all = yard.value ?? new Map();
  const queue = itemsOf(all, 'Queue').find((each) => each.name === name);
  if (queue === undefined) return <Notice isPage kind="none" title={`There is no queue ${name} that you may see`} />;
  const { cohort, problem, strategy, waiting, admitted, weightedShare, quota, first } = queue;
  const fellows = cohort === undefined ? [] : itemsOf(all, 'Queue').filter((each) => each.cohort === cohort && each.name !== name);
  const flavors = [...new Set(quota.map(({ flavor }) => flavor))];
  return (
    <article class="job-page">
      <p class="crumbs">
        <a href="#/yard">Yard</a> / queues{cohort === undefined ? '' : ` / cohort ${cohort}`} /
      </p>
      <header>
        <h1>{name}</h1>
        <span class="soft">
          {count(waiting, 'Job waits', 'Jobs wait')}, {admitted.toLocaleString('en')} admitted · {strategy}
          {weightedShare !== undefined && ` · weighted share ${weightedShare}`}
        </span>
      </header>
      {problem !== undefined && <p class="problem">{problem}</p>}
      <div class="columns">
        <div class="main-column">
          <section class="card">
            <h2>
              What waits, the longest first <a href={jobsAt({ state: 'Waiting' })}>all that wait</a>
            </h2>
            <div class="wagons">
              {first.map((job) => (
                <Wagon key={job.key} job={job} />
              ))}
              {first.length === 0 && <p class="empty">Nothing waits here that you may see.</p>}
            </div>
          </section>
          <section class="card">
            <h2>
              What it has admitted <a href={jobsAt({ clusterQueue: name, state: 'Running,Dispatching,Resting' })}>as a table</a>
            </h2>
            <div class="wagons">
              {itemsOf(all, 'Cluster')
                .flatMap(({ running }) => running)
                .filter((job) => job.clusterQueue === name)
                .map((job) => (
                  <Wagon key={job.key} job={job} />
                ))}
            </div>
          </section>
        </div>
        <aside>
          {flavors.map((flavor) => (
            <section class="card" key={flavor}>
              <h2>Flavor {flavor}</h2>
              <div class="meters">
                {quota
                  .filter((fill) => fill.flavor === flavor)
                  .map((fill) => (
                    <Meter key={fill.resource} fill={fill} label={fill.resource} />
                  ))}
              </div>
              {quota.some((fill) => fill.flavor === flavor && fill.borrowed !== undefined) && <p class="soft">The striped part is borrowed from its cohort.</p>}
            </section>
          ))}
          {fellows.length > 0 && (
            <section class="card">
              <h2>Others of cohort {cohort}</h2>
              {fellows.map((each) => (
                <div key={each.name} class="fellow">
                  <a href={`#/queues/${encodeURIComponent(each.name)}`}>{each.name}</a>
                  <span class="soft">
                    {' '}
                    {each.waiting} wait, {each.admitted} admitted
                  </span>
                  <div class="meters">
                    {each.quota.slice(0, 2).map((fill) => (
                      <Meter key={`${fill.flavor}/${fill.resource}`} fill={fill} label={fill.resource} />
                    ))}
                  </div>
                </div>
              ))}
            </section>
          )}
        </aside>
      </div>
    </article>
  );
}
