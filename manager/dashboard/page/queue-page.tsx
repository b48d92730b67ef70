import type { Loan, Place, QueueNode, QueueView } from '../views.ts';
import { useAsked } from './asked.tsx';
import { ConditionTable } from './conditions.tsx';
import { ADMITTED, Ago, Causes, Crumbs, KeyName, Meter, Notice, JobChips, QUEUED } from './parts.tsx';
import { cohortAt, jobAt, jobsAt, queueAt } from './place.ts';
import { QueueHours } from './queue-time-line.tsx';
import { overview } from './state.tsx';
import { count, firstClause, nameOf, namespaceOf, quantity } from './words.ts';
import { WhatIf } from './what-if.tsx';
import { itemsOf } from './overview-model.ts';

/** One ClusterQueue: its quota, who uses it, from whom it borrows, and what waits in which order. */
export function QueuePage({ name }: { readonly name: string }) {
  const all = overview.value ?? new Map();
  const queue = itemsOf(all, 'Queue').find((each) => each.name === name);
  const { value: view, problem } = useAsked((api) => api.queue(name), name, queue);
  if (queue === undefined) return <Notice isPage kind="none" title={`There is no queue ${name} that you may see`} />;
  const { cohort, strategy, waiting, admitted, weightedShare, quota } = queue;
  const flavors = [...new Set(quota.map(({ flavor }) => flavor))];
  return (
    <article class="job-page">
      <Crumbs parts={[{ href: '#/queues', label: 'Queues' }, ...(cohort === undefined ? [] : [{ href: cohortAt(cohort), label: `cohort ${cohort}` }])]} />
      <header>
        <h1>{name}</h1>
        <span class="soft">
          <a href={jobsAt({ state: QUEUED, clusterQueue: name })}>{count(waiting, 'Job waits', 'Jobs wait')}</a>, {admitted.toLocaleString('en')} admitted · {strategy}
          {weightedShare !== undefined && ` · weighted share ${weightedShare}`}
        </span>
      </header>
      {queue.problem !== undefined && <p class="problem">{queue.problem}</p>}
      <Causes causes={queue.causes} query={{ clusterQueue: name }} />
      <div class="columns">
        <div class="main-column">
          {view === undefined ? <FirstOf queue={queue} /> : <Order view={view} />}
          {view === undefined && problem !== undefined && problem.status !== 404 && (
            <p class="soft">The order of what waits, and who borrows from whom, cannot be shown: {problem.message}</p>
          )}
          {view !== undefined && view.loans.length > 0 && <Loans loans={view.loans} />}
          {view !== undefined && <Users view={view} />}
          {view !== undefined && <QueueHours key={`${name} hours`} name={name} />}
          {view !== undefined && <WhatIf key={name} queue={queue} weight={view.weight} />}
          <section class="card">
            <h2>
              What it has admitted <a href={jobsAt({ clusterQueue: name, state: ADMITTED })}>as a table</a>
            </h2>
            <JobChips jobs={itemsOf(all, 'Cluster').flatMap(({ running }) => running.filter((job) => job.clusterQueue === name))} />
          </section>
          {view !== undefined && view.conditions.length > 0 && (
            <section class="card">
              <h2>Conditions</h2>
              <ConditionTable conditions={view.conditions} />
            </section>
          )}
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
          <Fellows queue={queue} />
        </aside>
      </div>
    </article>
  );
}

function FirstOf({ queue: { name, first } }: { readonly queue: QueueNode }) {
  return (
    <section class="card">
      <h2>
        What waits, the longest first <a href={jobsAt({ state: QUEUED, clusterQueue: name })}>all that wait</a>
      </h2>
      <JobChips jobs={first} empty={`Nothing waits in ${name} that you may see.`} />
    </section>
  );
}

/** What waits, as the scheduler would take it. */
function Order({ view: { order, waiting, orderProblem } }: { readonly view: QueueView }) {
  return (
    <section class="card">
      <h2>What waits, in its order</h2>
      {orderProblem !== undefined && <p class="soft">{orderProblem}</p>}
      {order.length === 0 && orderProblem === undefined && (
        <p class="empty">{waiting === 0 ? 'Nothing waits.' : `${count(waiting, 'Job waits', 'Jobs wait')}; you may see none of the first.`}</p>
      )}
      {order.length > 0 && (
        <table class="rows">
          <thead>
            <tr>
              <th class="num">Place</th>
              <th>Job</th>
              <th class="num">Priority</th>
              <th class="num">Waits</th>
              <th>Why</th>
            </tr>
          </thead>
          <tbody>
            {order.map((each) => (
              <OneOf key={each.job.key} place={each} />
            ))}
          </tbody>
        </table>
      )}
      {waiting > order.length && order.length > 0 && <p class="soft">{waiting.toLocaleString('en')} wait in all.</p>}
    </section>
  );
}

function OneOf({ place: { place, priority, job } }: { readonly place: Place }) {
  return (
    <tr>
      <td class="num" data-label="Place">{place.toLocaleString('en')}</td>
      <td>
        <a href={jobAt(job.key)}>
          <KeyName of={job.key} kind={job.kind} />
        </a>
      </td>
      <td class="num" data-label="Priority">{priority.toLocaleString('en')}</td>
      <td class="num" data-label="Waits">
        <Ago atMs={job.createdMs} after="" />
      </td>
      <td class="wide soft" data-tip={job.why}>
        {job.why === undefined ? (job.cause ?? '') : firstClause(job.why)}
      </td>
    </tr>
  );
}

function Loans({ loans }: { readonly loans: readonly Loan[] }) {
  return (
    <section class="card">
      <h2>What it borrows, and who has it to spare</h2>
      <table>
        <thead>
          <tr>
            <th>Flavor</th>
            <th>Resource</th>
            <th class="num">Borrowed</th>
            <th>Not used by</th>
          </tr>
        </thead>
        <tbody>
          {loans.map(({ flavor, resource, borrowed, lenders }) => (
            <tr key={`${flavor}/${resource}`}>
              <td>{flavor}</td>
              <td>{resource}</td>
              <td class="num">{quantity(borrowed)}</td>
              <td class="wide">
                {lenders.map(({ kind, name, unused }, index) => (
                  <span key={`${kind}/${name}`}>
                    {index > 0 && ', '}
                    {kind === 'Queue' ? <a href={queueAt(name)}>{name}</a> : `cohort ${name}`} <span class="soft">{quantity(unused)}</span>
                  </span>
                ))}
                {lenders.length === 0 && <span class="soft">nobody that you may see</span>}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Users({ view: { localQueues, otherLocalQueues } }: { readonly view: QueueView }) {
  if (localQueues.length === 0 && (otherLocalQueues ?? 0) === 0) return null;
  return (
    <section class="card">
      <h2>Who uses it</h2>
      {localQueues.length > 0 && (
        <table>
          <thead>
            <tr>
              <th>Local queue</th>
              <th class="num">Waiting</th>
              <th class="num">Admitted</th>
              <th>Holds</th>
            </tr>
          </thead>
          <tbody>
            {localQueues.map(({ key, waiting, admitted, holds }) => (
              <tr key={key}>
                <td>
                  <a href={jobsAt({ namespace: namespaceOf(key), queue: nameOf(key) })}>
                    <KeyName of={key} />
                  </a>
                </td>
                <td class="num">{waiting.toLocaleString('en')}</td>
                <td class="num">{admitted.toLocaleString('en')}</td>
                <td class="wide">
                  {Object.entries(holds)
                    .map(([resource, amount]) => `${quantity(amount)} ${resource}`)
                    .join(', ')}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {otherLocalQueues !== undefined && otherLocalQueues > 0 && (
        <p class="soft">
          {otherLocalQueues === 1 ? 'One more local queue leads' : `${otherLocalQueues.toLocaleString('en')} more local queues lead`} here from namespaces that you may not see.
        </p>
      )}
    </section>
  );
}

/** The other queues of its cohort. */
function Fellows({ queue: { name, cohort } }: { readonly queue: QueueNode }) {
  const fellows = cohort === undefined ? [] : itemsOf(overview.value ?? new Map(), 'Queue').filter((each) => each.cohort === cohort && each.name !== name);
  if (fellows.length === 0) return null;
  return (
    <section class="card">
      <h2>Others of cohort {cohort}</h2>
      {fellows.map((each) => (
        <div key={each.name} class="fellow">
          <a href={queueAt(each.name)}>{each.name}</a>
          <span class="soft">
            {' '}
            {count(each.waiting, 'waits', 'wait')}, {each.admitted} admitted
          </span>
          <div class="meters">
            {each.quota.slice(0, 2).map((fill) => (
              <Meter key={`${fill.flavor}/${fill.resource}`} fill={fill} label={fill.resource} />
            ))}
          </div>
        </div>
      ))}
    </section>
  );
}
