import { useEffect, useState } from 'preact/hooks';
import type { JobLine, JobView, LivePod, LivePods, PodView } from '../views.ts';
import { problemOf } from './api.ts';
import { KeptLog, LiveLog } from './logs.tsx';
import { Ago, Notice } from './parts.tsx';
import { jobAt } from './place.ts';
import { entry } from './state.tsx';
import { behindNamespace, duration, namespaceOf } from './words.ts';

const SHORT = 8;
const LIVE_SHOWN = 200;

/** Pods that have ended, with how, and what is kept of their logs. `short`: those that failed first, and not all. */
export function EndedPods({ view, short }: { readonly view: JobView; readonly short: boolean }) {
  const [open, setOpen] = useState<string | undefined>(undefined);
  const pods = short ? view.pods.toSorted((a, b) => Number(b.phase === 'Failed') - Number(a.phase === 'Failed')).slice(0, SHORT) : view.pods;
  if (pods.length === 0)
    return short ? null : <Notice kind="none" title="No pod has ended yet" about="Pods are listed here once they have ended, as far as the history keeps them (--history-store)." />;
  return (
    <section class="card">
      <h2>
        Pods that ended {short && view.pods.length > pods.length && <a href={jobAt(view.line.key, 'pods')}>all {view.pods.length}</a>}
      </h2>
      <table class="rows">
        <thead>
          <tr>
            <th>Pod</th>
            <th>On</th>
            <th>Ended</th>
            <th class="num">Exit</th>
            <th class="num">Ran</th>
            <th>Last line</th>
          </tr>
        </thead>
        <tbody>
          {pods.map((pod) => (
            <EndedPod key={pod.pod} pod={pod} isOpen={open === pod.pod} toggle={() => setOpen(open === pod.pod ? undefined : pod.pod)} job={view.line.key} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

type Toggled = { readonly isOpen: boolean; readonly toggle: () => void };

function EndedPod({ pod, job, isOpen, toggle }: { readonly pod: PodView; readonly job: string } & Toggled) {
  const isBad = pod.phase === 'Failed';
  return (
    <>
      <tr>
        <td class="mono">
          {pod.hasLog ? (
            <button type="button" class="link" aria-expanded={isOpen} onClick={toggle}>
              {pod.pod}
            </button>
          ) : (
            pod.pod
          )}
          {pod.index !== undefined && <span class="soft"> #{pod.index}</span>}
        </td>
        <td data-label="On">{pod.cluster}</td>
        <td class={isBad ? 'red' : ''} data-label="Ended">
          {pod.phase.toLowerCase()}
          {pod.reason !== undefined && isBad ? ` · ${pod.reason}` : ''}
        </td>
        <td class={isBad ? 'red num' : 'num'} data-label="Exit">
          {pod.exitCode ?? ''}
        </td>
        <td class="num" data-label="Ran">
          {pod.startedMs === undefined || pod.endedMs === undefined ? '' : duration(pod.endedMs - pod.startedMs)}</td>
        <td class="mono soft last">{pod.lastLine ?? pod.message ?? ''}</td>
      </tr>
      {isOpen && (
        <tr>
          <td colSpan={6}>
            <KeptLog job={job} pod={pod.pod} />
          </td>
        </tr>
      )}
    </>
  );
}

/** Pods that are there now, whose logs can be followed. */
export function LivePodsOf({ line }: { readonly line: JobLine }) {
  const { key, active, state } = line;
  const [there, setThere] = useState<LivePods | undefined>(undefined);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const [open, setOpen] = useState<LivePod | undefined>(undefined);
  const who = entry.value;
  const runs = active > 0 && (state === 'Running' || state === 'Resting');
  useEffect(() => {
    if (who.kind !== 'Inside' || !runs) return;
    who.api.pods(namespaceOf(key), behindNamespace(key)).then(
      (pods) => (setThere(pods), setProblem(undefined)),
      (error: unknown) => setProblem(problemOf(error).message),
    );
  }, [key, runs, active, line.succeeded, line.failed]);
  if (!runs && open === undefined) return null;
  if (there === undefined)
    return problem === undefined ? null : (
      <section class="card">
        <h2>Pods that run</h2>
        <p class="soft">They are not shown: {problem}</p>
      </section>
    );
  const first = there.pods.slice(0, LIVE_SHOWN);
  // Whoever reads the log of a pod reads it to its end, and beyond.
  const shown = open === undefined || first.some(({ pod }) => pod === open.pod) ? first : [{ ...open, phase: 'gone' }, ...first];
  return (
    <section class="card">
      <h2>
        Pods that run <span class="soft">· {there.pods.length.toLocaleString('en')} on {there.cluster}</span>
      </h2>
      <table>
        <thead>
          <tr>
            <th>Pod</th>
            <th>Phase</th>
            <th class="num">Since</th>
          </tr>
        </thead>
        <tbody>
          {shown.map((pod) => (
            <Live key={pod.pod} pod={pod} job={key} isOpen={open?.pod === pod.pod} toggle={() => setOpen(open?.pod === pod.pod ? undefined : pod)} />
          ))}
        </tbody>
      </table>
      {line.active > LIVE_SHOWN && <p class="soft">The first {LIVE_SHOWN} of them.</p>}
    </section>
  );
}

function Live({ pod: { pod, phase, index, startedMs }, job, isOpen, toggle }: { readonly pod: LivePod; readonly job: string } & Toggled) {
  return (
    <>
      <tr>
        <td class="mono">
          <button type="button" class="link" aria-expanded={isOpen} onClick={toggle}>
            {pod}
          </button>
          {index !== undefined && <span class="soft"> #{index}</span>}
        </td>
        <td>{phase.toLowerCase()}</td>
        <td class="num">
          <Ago atMs={startedMs} after="" />
        </td>
      </tr>
      {isOpen && (
        <tr>
          <td colSpan={3}>
            <LiveLog job={job} pod={pod} />
          </td>
        </tr>
      )}
    </>
  );
}
