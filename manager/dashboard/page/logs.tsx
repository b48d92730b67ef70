import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { ApiProblem, problemOf } from './api.ts';
import { useAsked } from './asked.tsx';
import { follow } from './follow.ts';
import { linesOf, NO_LINES, partsOf, withText, type LogLines } from './log-lines.ts';
import { saveFile } from './save-file.tsx';
import { BROWSER_TIME, entry } from './state.tsx';
import { behindNamespace, count, namespaceOf } from './words.ts';

const LINES_MAX = 20_000;
/** More of them at once would make the browser slow; what is looked for is found in all of them. */
const SHOWN_MAX = 2_000;
/** Who is so near the end goes along with it. */
const NEAR_PX = 40;

/** What is kept of the log of a pod that has ended. */
export function KeptLog({ job, pod }: { readonly job: string; readonly pod: string }) {
  const [namespace, name] = [namespaceOf(job), behindNamespace(job)];
  const { value: log, problem } = useAsked(async (api) => withText(NO_LINES, (await api.log(namespace, name, pod)).log, LINES_MAX), `${job}/${pod}`, undefined);
  if (problem !== undefined) return <p class="problem">{problem.message}</p>;
  if (log === undefined) return <p class="soft">Fetching the end of the log …</p>;
  return <LogView pod={pod} log={log} state="the kept end of it" />;
}

type Following = 'Connecting' | 'Live' | { readonly ended: string } | { readonly lost: string };

/** The log of a pod that is there, as it is written. */
export function LiveLog({ job, pod }: { readonly job: string; readonly pod: string }) {
  const [log, setLog] = useState(NO_LINES);
  const [state, setState] = useState<Following>('Connecting');
  const who = entry.value;
  useEffect(() => {
    if (who.kind !== 'Inside') return undefined;
    const { api } = who;
    const [namespace, name] = [namespaceOf(job), behindNamespace(job)];
    const leaving = new AbortController();
    void follow(
      {
        api: {
          stream: (lastEventId, signal) =>
            api.logStream(namespace, name, pod, lastEventId, signal).catch((error: unknown) => {
              // It has gone: that does not get better by asking again.
              if (error instanceof ApiProblem && error.status === 404) {
                leaving.abort();
                setState({ ended: error.message });
              }
              throw error;
            }),
        },
        onEvent({ event, data }) {
          const told = JSON.parse(data) as { readonly text?: string; readonly reason?: string; readonly message?: string };
          if (event === 'lines') return setLog((before) => withText(before, told.text ?? '', LINES_MAX));
          // Neither gets better by asking again.
          leaving.abort();
          setState(event === 'end' ? { ended: told.reason ?? 'it has ended' } : { lost: told.message ?? 'it cannot be read' });
        },
        onConnection(next) {
          if (leaving.signal.aborted) return;
          setState(next.kind === 'Live' || next.kind === 'Connecting' ? next.kind : { lost: next.why });
        },
        ...BROWSER_TIME,
      },
      leaving.signal,
    ).catch((error: unknown) => setState({ lost: problemOf(error).message }));
    return () => leaving.abort();
  }, [job, pod]);
  const words = state === 'Connecting' ? 'asking for it …' : state === 'Live' ? 'live' : 'ended' in state ? state.ended : `not live: ${state.lost}`;
  return <LogView pod={pod} log={log} state={words} isLive={state === 'Live'} />;
}

type LogViewProps = { readonly pod: string; readonly log: LogLines; readonly state: string; readonly isLive?: boolean };

/** Lines to look through, to go along with and to take home. */
function LogView({ pod, log, state, isLive = false }: LogViewProps) {
  const [wanted, setWanted] = useState('');
  const [follows, setFollows] = useState(true);
  const box = useRef<HTMLPreElement>(null);
  const all = linesOf(log);
  const low = wanted.toLowerCase();
  const found = wanted === '' ? all : all.filter((line) => line.toLowerCase().includes(low));
  const shown = found.slice(-SHOWN_MAX);
  const first = log.dropped + (wanted === '' ? all.length - shown.length : 0);
  useLayoutEffect(() => {
    if (follows && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [log, follows, wanted]);
  return (
    <div class="log">
      <div class="log-head">
        <input type="search" placeholder="Search in it" aria-label="Search in the log" value={wanted} onInput={(event) => setWanted(event.currentTarget.value)} />
        <span class="soft" role="status">
          {wanted === '' ? count(all.length, 'line') : `${found.length.toLocaleString('en')} of ${count(all.length, 'line')}`}
        </span>
        <span class={isLive ? 'pulse live' : 'soft'}>{state}</span>
        <label class="follows">
          <input type="checkbox" checked={follows} onChange={(event) => setFollows(event.currentTarget.checked)} /> Follow
        </label>
        <button type="button" class="quiet" onClick={() => saveFile(`${pod}.log`, 'text/plain', `${all.join('\n')}\n`)}>
          Download
        </button>
      </div>
      {log.dropped > 0 && <p class="soft">The first {log.dropped.toLocaleString('en')} lines are not kept here.</p>}
      <pre
        ref={box}
        tabIndex={0}
        aria-label={`Log of ${pod}`}
        onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
          const isNear = scrollHeight - scrollTop - clientHeight < NEAR_PX;
          if (isNear !== follows) setFollows(isNear);
        }}
      >
        {shown.map((line, index) => (
          <span class="line" key={first + index}>
            {partsOf(line, wanted).map(({ text, isHit }, part) => (isHit ? <mark key={part}>{text}</mark> : text))}
            {'\n'}
          </span>
        ))}
      </pre>
    </div>
  );
}
