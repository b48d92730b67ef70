import type { SharedQueueView, SubmissionView } from '../submission-views.ts';
import { useAsked } from './asked.tsx';
import { ConditionTable } from './conditions.tsx';
import { Ago, Facts, HealthDot, Notice } from './parts.tsx';
import { lastHeard, serverNow } from './state.tsx';
import { age, moment } from './words.ts';

const EVERY_MS = 5_000;

/** What comes in by queues of submissions, the shared one and tenant by tenant: what waits there, is parked, and was refused. */
export function SubmissionsPage() {
  // What its leader tells comes with the status of the queue, of which the yard knows nothing.
  const beat = Math.floor(lastHeard.value.hereMs / EVERY_MS);
  const { value, problem } = useAsked((api) => api.submissions(), 'submissions', beat);
  if (value === undefined && problem?.status === 403) return <Notice isPage kind="none" title="You may see no submissions" about={problem.message} />;
  if (value === undefined && problem?.status === 404) return <Notice isPage kind="none" title="This manager does not tell of submissions" about="Its version is older than this page." />;
  if (value === undefined && problem !== undefined) return <Notice isPage kind="bad" title="The submissions could not be read" about={problem.message} />;
  if (value === undefined) return <Notice isPage kind="wait" title="Looking for submissions …" />;
  const { queues, shared } = value;
  if (queues.length === 0 && shared === undefined)
    return (
      <Notice
        isPage
        kind="none"
        title="There is no queue of submissions that you may see"
        about="A SubmissionQueue gives a tenant a queue of his own (docs/submissions.md); they are shown to those who may list submissionqueues in its namespace, the shared queue to those who may list them in all."
      />
    );
  const all: readonly Figures[] = shared === undefined ? queues : [...queues, shared];
  const sum = (of: (queue: Figures) => number | undefined): number => all.reduce((total, queue) => total + (of(queue) ?? 0), 0);
  return (
    <article class="job-page">
      <header>
        <h1>Submissions</h1>
        <span class="soft">
          {sum(({ backlog }) => backlog).toLocaleString('en')} wait to become Jobs, {sum(({ parked }) => parked).toLocaleString('en')} parked
        </span>
      </header>
      {shared !== undefined && <SharedQueue queue={shared} />}
      {queues.length > 0 && <Tenants queues={queues} />}
      {queues
        .filter(({ health, conditions }) => health !== 'Good' && conditions.length > 0)
        .map(({ key, conditions }) => (
          <section class="card" key={key}>
            <h2>{key}</h2>
            <ConditionTable conditions={conditions} />
          </section>
        ))}
    </article>
  );
}

function Tenants({ queues }: { readonly queues: readonly SubmissionView[] }) {
  return (
    <section class="card">
      <h2>By tenant</h2>
      <table>
        <thead>
          <tr>
            <th>Queue</th>
            <th>Account</th>
            <th class="num">Weight</th>
            <th class="num">Backlog</th>
            <th class="num">Parked</th>
            <th class="num">Accepted</th>
            <th class="num">Refused</th>
          </tr>
        </thead>
        <tbody>
          {queues.map((queue) => (
            <Tenant key={queue.key} queue={queue} />
          ))}
        </tbody>
      </table>
      <p class="soft">Parked are those whose Jobs have not ended. A dash: the leader has not told.</p>
    </section>
  );
}

type Figures = Pick<SubmissionView, 'backlog' | 'parked' | 'accepted' | 'refused'>;

/** A dash: the leader has not told. */
const figure = (number: number | undefined): string => number?.toLocaleString('en') ?? '–';

/** The queue that the flags of the manager describe, with the last problem of Redis and of submissions. */
function SharedQueue({ queue: shared }: { readonly queue: SharedQueueView }) {
  const { health, queue, prefix, backlog, oldestMs, parked, accepted, refused, redis, refusals, hidden } = shared;
  const rows = [
    { name: 'Queue', value: queue === undefined ? 'not described by a leader yet' : `${prefix}:${queue}` },
    { name: 'Backlog', value: oldestMs === undefined ? figure(backlog) : `${figure(backlog)}, the oldest for ${age(serverNow.value - oldestMs)}` },
    { name: 'Parked', value: `${figure(parked)} whose Jobs have not ended` },
    { name: 'Accepted', value: `${figure(accepted)} since the manager leads` },
    { name: 'Refused', value: figure(refused) },
  ];
  return (
    <>
      <section class="card">
        <h2>
          <HealthDot health={health} label={health} /> The shared queue
        </h2>
        <Facts rows={rows} />
        {redis !== undefined && (
          <p class={redis.untilMs === undefined ? 'problem' : 'soft'}>
            Redis, {redis.untilMs === undefined ? 'since' : 'from'} {moment(redis.sinceMs, serverNow.peek())}
            {redis.untilMs !== undefined && ` to ${moment(redis.untilMs, serverNow.peek())}`}: {redis.reason}: {redis.message}
          </p>
        )}
      </section>
      <section class="card">
        <h2>Refused there last</h2>
        {refusals.length === 0 && <p class="empty">{hidden === 0 ? 'No submission was refused.' : 'None that you may see.'}</p>}
        <ul class="hurdles">
          {refusals.map(({ id, atMs, namespace, name, reason, message }) => (
            <li key={`${id} ${atMs}`}>
              <b>{namespace === undefined ? 'of no namespace' : `${namespace}/${name ?? ''}`}</b> {reason}: {message}
              <p class="soft">
                submission {id}, <Ago atMs={atMs} />
              </p>
            </li>
          ))}
        </ul>
        {hidden > 0 && refusals.length > 0 && <p class="soft">{hidden.toLocaleString('en')} of namespaces that you may not see.</p>}
      </section>
    </>
  );
}

function Tenant({ queue: { key, health, problem, backlog, parked, accepted, refused, account, weight } }: { readonly queue: SubmissionView }) {
  return (
    <>
      <tr>
        <td>
          <HealthDot health={health} label={health} /> {key}
        </td>
        <td>{account ?? ''}</td>
        <td class="num">{weight}</td>
        <td class="num">{figure(backlog)}</td>
        <td class="num">{figure(parked)}</td>
        <td class="num">{figure(accepted)}</td>
        <td class="num">{figure(refused)}</td>
      </tr>
      {problem !== undefined && (
        <tr class="told">
          <td colSpan={7}>
            <p class="problem">{problem}</p>
          </td>
        </tr>
      )}
    </>
  );
}
