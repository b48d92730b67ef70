import { useState } from 'preact/hooks';
import type { ClusterAction, ClusterItem, ClusterView } from '../views.ts';
import { problemOf } from './api.ts';
import { useAsked } from './asked.tsx';
import { ClusterHours } from './cluster-time-line.tsx';
import { Command } from './command.tsx';
import { ConditionTable } from './conditions.tsx';
import { ADMITTED, Crumbs, Facts, HealthDot, KeyName, Meter, Notice, JobChips } from './parts.tsx';
import { jobAt, jobsAt } from './place.ts';
import { entry, serverNow, overview } from './state.tsx';
import { count, duration } from './words.ts';
import { clustersIn } from './overview-model.ts';

/** One worker cluster: how it is, how full, what runs there, what is kept from it, and what keeps Jobs there from running twice. */
export function ClusterPage({ name }: { readonly name: string }) {
  const cluster = clustersIn(overview.value ?? new Map()).find((each) => each.name === name);
  const { value: view, problem: unread } = useAsked((api) => api.cluster(name), name, cluster);
  if (cluster === undefined) return <Notice isPage kind="none" title={`There is no cluster ${name} that you may see`} />;
  const { health, state, problem, roundTripMs, version, fills, jobs, running } = cluster;
  return (
    <article class="job-page">
      <Crumbs parts={[{ href: '#/clusters', label: 'Clusters' }]} />
      <header>
        <HealthDot health={health} label={state} />
        <h1>{name}</h1>
        <span class="soft">
          {state} · {count(jobs, 'Job')}
          {roundTripMs === undefined ? '' : ` · answers in ${roundTripMs} ms`}
          {version === undefined ? '' : ` · Kubernetes ${version}`}
        </span>
        <Actions cluster={cluster} may={view?.may ?? []} />
      </header>
      {problem !== undefined && <p class="problem">{problem}</p>}
      <div class="columns">
        <div class="main-column">
          <section class="card">
            <h2>
              On it <a href={jobsAt({ cluster: name, state: ADMITTED })}>as a table</a>
            </h2>
            <JobChips jobs={running} empty="No Job of yours is here." />
          </section>
          <ClusterHours name={name} />
          {view === undefined && unread !== undefined && unread.status !== 404 && <p class="soft">More of it cannot be shown: {unread.message}</p>}
          {view !== undefined && <Avoided view={view} />}
          {view !== undefined && view.conditions.length > 0 && (
            <section class="card">
              <h2>Conditions</h2>
              <ConditionTable conditions={view.conditions} />
            </section>
          )}
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
          {view !== undefined && <Fence fence={view.fence} />}
          {view !== undefined && <FactsAndLabels view={view} />}
          <section class="card">
            <h2>On the command line</h2>
            {(view?.commands ?? ['cordon', 'drain', 'uncordon'].map((does) => ({ does, line: `switchyard clusters ${does} ${name}` }))).map(({ does, line }) => (
              <Command key={line} does={does} line={line} />
            ))}
          </section>
        </aside>
      </div>
    </article>
  );
}

const WORDS: Readonly<Record<ClusterAction, string>> = {
  Cordon: 'It takes no more Jobs; those on it go on.',
  Uncordon: 'It takes Jobs again.',
  Drain: 'It takes no more Jobs, and those on it move to other clusters: what they have done so far is lost where they keep it nowhere.',
};

/** Asks once more before it does anything. */
function Actions({ cluster: { name, state, jobs }, may }: { readonly cluster: ClusterItem; readonly may: readonly ClusterAction[] }) {
  const [asked, setAsked] = useState<ClusterAction | undefined>(undefined);
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const who = entry.value;
  const isOpen = state !== 'Cordoned' && state !== 'Draining' && state !== 'Drained';
  const some = (isOpen ? (['Cordon', 'Drain'] as const) : (['Uncordon'] as const)).filter((action) => may.includes(action));
  if (who.kind !== 'Inside' || some.length === 0) return null;
  const go = async (action: ClusterAction): Promise<void> => {
    setBusy(true);
    try {
      const { results } = await who.api.act({ action, cluster: name });
      const refused = results.find(({ outcome }) => outcome !== 'Done');
      setProblem(refused && (refused.message ?? refused.outcome));
      setAsked(undefined);
    } catch (error) {
      setProblem(problemOf(error).message);
    } finally {
      setBusy(false);
    }
  };
  return (
    <span class="cluster-actions">
      {asked === undefined ? (
        some.map((action) => (
          <button key={action} type="button" class="quiet" onClick={() => setAsked(action)}>
            {action} …
          </button>
        ))
      ) : (
        <span role="alertdialog" aria-label={`${asked} ${name}?`}>
          <span class="soft">{WORDS[asked]}</span>{' '}
          <button type="button" class={asked === 'Drain' ? 'danger' : ''} disabled={isBusy} onClick={() => void go(asked)}>
            {asked === 'Drain' ? `Drain ${name} of ${count(jobs, 'Job')}` : `${asked} ${name}`}
          </button>{' '}
          <button type="button" class="quiet" onClick={() => setAsked(undefined)}>
            Leave it
          </button>
        </span>
      )}
      {problem !== undefined && (
        <span class="red" role="alert">
          {problem}
        </span>
      )}
    </span>
  );
}

function Avoided({ view: { avoidedBy } }: { readonly view: ClusterView }) {
  if (avoidedBy.length === 0) return null;
  return (
    <section class="card">
      <h2>Jobs that are kept from it for now</h2>
      <table>
        <thead>
          <tr>
            <th>Job</th>
            <th>Why</th>
            <th class="num">For</th>
          </tr>
        </thead>
        <tbody>
          {avoidedBy.map(({ job, reason, untilMs }) => (
            <tr key={job}>
              <td>
                <a href={jobAt(job)}>
                  <KeyName of={job} />
                </a>
              </td>
              <td class="wide">{reason}</td>
              <td class="num">{untilMs === undefined || untilMs <= serverNow.value ? '' : duration(untilMs - serverNow.value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Fence({ fence: { afterSeconds, about, leaseNamespace } }: { readonly fence: ClusterView['fence'] }) {
  return (
    <section class="card">
      <h2>Fence and Lease</h2>
      <p>{about}</p>
      <Facts
        rows={[
          { name: 'Fence after', value: afterSeconds === undefined ? 'it has not said' : afterSeconds === 0 ? 'never' : duration(afterSeconds * 1000) },
          { name: 'Leases in', value: leaseNamespace },
        ]}
      />
    </section>
  );
}

function FactsAndLabels({ view: { facts, labels } }: { readonly view: ClusterView }) {
  const rows = [...facts, ...Object.entries(labels).map(([name, value]) => ({ name, value }))];
  if (rows.length === 0) return null;
  return (
    <section class="card">
      <h2>Facts and labels</h2>
      <Facts rows={rows} />
    </section>
  );
}
