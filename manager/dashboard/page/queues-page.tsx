import type { LocalQueueNode, QueueNode } from '../views.ts';
import { ADMITTED, Causes, Crumbs, HealthDot, Meter, Notice, QUEUED } from './parts.tsx';
import { cohortAt, jobsAt, queueAt } from './place.ts';
import { overview } from './state.tsx';
import { inCohort, itemsOf, localQueuesIn, waitingIn } from './overview-model.ts';

/** All queues that the viewer may see, or those of a cohort with what is below it. */
export function QueuesPage({ cohort }: { readonly cohort: string | undefined }) {
  const all = overview.value ?? new Map();
  const queues = inCohort(all, cohort).toSorted((a, b) => b.waiting - a.waiting || (a.name < b.name ? -1 : 1));
  const alone = cohort === undefined ? localQueuesIn(all) : [];
  const parent = itemsOf(all, 'Cohort').find(({ name }) => name === cohort);
  return (
    <article class="job-page">
      {cohort !== undefined && (
        <Crumbs parts={[{ href: '#/queues', label: 'Queues' }, ...(parent?.parent === undefined ? [] : [{ href: cohortAt(parent.parent), label: `cohort ${parent.parent}` }])]} />
      )}
      <header>
        <h1>{cohort === undefined ? 'Queues' : `Cohort ${cohort}`}</h1>
      </header>
      {parent !== undefined && (
        <div class="meters">
          {parent.quota.map((fill) => (
            <Meter key={fill.resource} fill={fill} label={fill.resource} />
          ))}
        </div>
      )}
      {queues.length + alone.length === 0 ? (
        <Notice kind="none" title="There is no queue here that you may see" />
      ) : (
        <section class="card">
          <table class="rows">
            <thead>
              <tr>
                <th>Queue</th>
                <th>Cohort</th>
                <th class="num">Waiting</th>
                <th class="num">Admitted</th>
                <th>Quota</th>
                <th>What waits is</th>
              </tr>
            </thead>
            <tbody>
              {queues.map((queue) => (
                <QueueRow key={queue.name} queue={queue} />
              ))}
              {alone.map((queue) => (
                <LocalQueueRow key={queue.key} queue={queue} />
              ))}
            </tbody>
          </table>
        </section>
      )}
    </article>
  );
}

function QueueRow({ queue: { name, cohort, health, problem, waiting, admitted, quota, causes } }: { readonly queue: QueueNode }) {
  const flavors = new Set(quota.map(({ flavor }) => flavor)).size;
  return (
    <tr>
      <td>
        <HealthDot health={health} label={problem ?? health} /> <a href={queueAt(name)}>{name}</a>
        {problem !== undefined && <p class="problem">{problem}</p>}
      </td>
      <td data-label="Cohort">{cohort !== undefined && <a href={cohortAt(cohort)}>{cohort}</a>}</td>
      <td class="num" data-label="Waiting">
        <a href={jobsAt({ state: QUEUED, clusterQueue: name })}>{waiting.toLocaleString('en')}</a>
      </td>
      <td class="num" data-label="Admitted">
        <a href={jobsAt({ state: ADMITTED, clusterQueue: name })}>{admitted.toLocaleString('en')}</a>
      </td>
      <td class="fills">
        {quota.map((fill) => (
          <Meter key={`${fill.flavor}/${fill.resource}`} fill={fill} label={flavors > 1 ? `${fill.resource} · ${fill.flavor}` : fill.resource} />
        ))}
      </td>
      <td>
        <Causes causes={causes} query={{ clusterQueue: name }} />
      </td>
    </tr>
  );
}

function LocalQueueRow({ queue: { key, clusterQueue, waiting, causes } }: { readonly queue: LocalQueueNode }) {
  const query = waitingIn(key);
  return (
    <tr>
      <td>
        <a href={jobsAt({ ...query, state: undefined })}>{key}</a>
        <span class="soft"> to {clusterQueue}</span>
      </td>
      <td />
      <td class="num" data-label="Waiting">
        <a href={jobsAt(query)}>{waiting.toLocaleString('en')}</a>
      </td>
      <td />
      <td />
      <td>
        <Causes causes={causes} query={query} />
      </td>
    </tr>
  );
}
