import type { SubmissionView } from '../views.ts';
import { useAsked } from './asked.tsx';
import { ConditionTable } from './conditions.tsx';
import { HealthDot, Notice } from './parts.tsx';
import { lastHeard } from './state.tsx';

const EVERY_MS = 5_000;

/** What comes in by queues of submissions: what waits there, what is parked, and what was refused, tenant by tenant. */
export function SubmissionsPage() {
  // What its leader tells comes with the status of the queue, of which the yard knows nothing.
  const beat = Math.floor(lastHeard.value.hereMs / EVERY_MS);
  const { value, problem } = useAsked((api) => api.submissions(), 'submissions', beat);
  if (value === undefined && problem?.status === 403) return <Notice isPage kind="none" title="You may see no submissions" about={problem.message} />;
  if (value === undefined && problem?.status === 404) return <Notice isPage kind="none" title="This manager does not tell of submissions" about="Its version is older than this page." />;
  if (value === undefined && problem !== undefined) return <Notice isPage kind="bad" title="The submissions could not be read" about={problem.message} />;
  if (value === undefined) return <Notice isPage kind="wait" title="Looking for submissions …" />;
  if (value.queues.length === 0)
    return (
      <Notice
        isPage
        kind="none"
        title="There is no queue of submissions that you may see"
        about="A SubmissionQueue gives a tenant a queue of his own (docs/submissions.md); they are shown to those who may list submissionqueues in its namespace."
      />
    );
  const sum = (of: (queue: SubmissionView) => number | undefined): number => value.queues.reduce((total, queue) => total + (of(queue) ?? 0), 0);
  return (
    <article class="job-page">
      <header>
        <h1>Submissions</h1>
        <span class="soft">
          {sum(({ backlog }) => backlog).toLocaleString('en')} wait to become Jobs, {sum(({ parked }) => parked).toLocaleString('en')} parked
        </span>
      </header>
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
            {value.queues.map((queue) => (
              <Tenant key={queue.key} queue={queue} />
            ))}
          </tbody>
        </table>
        <p class="soft">Parked are those that could not become Jobs however often they were tried. A dash: the leader has not told.</p>
      </section>
      {value.queues
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

function Tenant({ queue: { key, health, problem, backlog, parked, accepted, refused, account, weight } }: { readonly queue: SubmissionView }) {
  const figure = (number: number | undefined): string => number?.toLocaleString('en') ?? '–';
  return (
    <>
      <tr>
        <td>
          <HealthDot health={health} label={health} /> {key}
        </td>
        <td>{account ?? ''}</td>
        <td class="num">{weight}</td>
        <td class="num">{figure(backlog)}</td>
        <td class={(parked ?? 0) > 0 ? 'num red' : 'num'}>{figure(parked)}</td>
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
