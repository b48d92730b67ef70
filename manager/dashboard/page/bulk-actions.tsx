import { useEffect, useRef, useState } from 'preact/hooks';
import type { ActionResult, JobAction, JobLine } from '../views.ts';
import { problemOf, type Api } from './api.ts';
import type { Query } from './place.ts';
import { entry } from './state.tsx';
import { count } from './words.ts';

const PAGE = 500;
/** The server takes no more at once. */
const JOBS_MAX = 1_000;
const ACTIONS: Readonly<Record<JobAction, { readonly verb: string; readonly about: string }>> = {
  Hold: { verb: 'Hold', about: 'Each gives its place up and stays out of its queue until it is released.' },
  Release: { verb: 'Release', about: 'Each queues again.' },
  Cancel: { verb: 'Cancel', about: 'Each is stopped and deleted. This cannot be taken back.' },
};

/** All Jobs that a query finds, up to so many. */
export async function allJobs(api: Pick<Api, 'jobs'>, query: Query, most: number): Promise<readonly JobLine[]> {
  const jobs = new Map<string, JobLine>();
  for (let offset = 0; offset < most; offset += PAGE) {
    const page = await api.jobs({ ...query, group: '', offset: String(offset), limit: String(PAGE) });
    // Jobs that come meanwhile move others into the next page: none is told twice.
    for (const job of page.jobs) jobs.set(job.uid, job);
    if (offset + PAGE >= page.total) break;
  }
  return [...jobs.values()].slice(0, most);
}

type BulkProps = { readonly query: Query; readonly total: number; readonly chosen: ReadonlySet<string>; readonly clear: () => void };
type Asked = { readonly action: JobAction; readonly jobs: readonly string[] };

/** What can be done with many Jobs at once: with those that are chosen, or else with all that the filter finds. */
export function BulkActions({ query, total, chosen, clear }: BulkProps) {
  const [asked, setAsked] = useState<Asked | undefined>(undefined);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const who = entry.value;
  if (who.kind !== 'Inside' || total === 0) return null;
  const many = chosen.size > 0 ? chosen.size : total;
  const prepare = async (action: JobAction): Promise<void> => {
    try {
      const jobs = chosen.size > 0 ? [...chosen] : (await allJobs(who.api, query, JOBS_MAX)).map(({ key }) => key);
      setAsked({ action, jobs });
      setProblem(undefined);
    } catch (error) {
      setProblem(problemOf(error).message);
    }
  };
  return (
    <span class="bulk" role="group" aria-label="With these Jobs">
      {chosen.size > 0 ? (
        <button type="button" class="token" onClick={clear}>
          {chosen.size.toLocaleString('en')} chosen ×
        </button>
      ) : (
        <span class="soft">all of them:</span>
      )}
      {Object.entries(ACTIONS).map(([action, { verb }]) => (
        <button key={action} type="button" class="quiet" disabled={many > JOBS_MAX} title={many > JOBS_MAX ? `at most ${JOBS_MAX} at once` : undefined} onClick={() => void prepare(action as JobAction)}>
          {verb} …
        </button>
      ))}
      {problem !== undefined && (
        <span class="red" role="alert">
          {problem}
        </span>
      )}
      {asked !== undefined && <Confirmation asked={asked} api={who.api} close={(isDone) => (setAsked(undefined), isDone && clear())} />}
    </span>
  );
}

/** The same with one Job, on its page: what its viewer may do. */
export function JobActions({ job: { key, state }, may }: { readonly job: JobLine; readonly may: readonly JobAction[] }) {
  const [asked, setAsked] = useState<Asked | undefined>(undefined);
  const who = entry.value;
  const some = ([state === 'Held' ? 'Release' : 'Hold', 'Cancel'] as const).filter((action) => may.includes(action));
  if (who.kind !== 'Inside' || some.length === 0 || state === 'Complete' || state === 'Failed') return null;
  return (
    <span class="cluster-actions" role="group" aria-label="With this Job">
      {some.map((action) => (
        <button key={action} type="button" class="quiet" onClick={() => setAsked({ action, jobs: [key] })}>
          {ACTIONS[action].verb} …
        </button>
      ))}
      {asked !== undefined && <Confirmation asked={asked} api={who.api} close={() => setAsked(undefined)} />}
    </span>
  );
}

/** Says how many, and has whoever wants more than one done type that number. */
function Confirmation({ asked: { action, jobs }, api, close }: { readonly asked: Asked; readonly api: Api; readonly close: (isDone: boolean) => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [typed, setTyped] = useState('');
  const [state, setState] = useState<'Asking' | 'Doing' | ActionResult | { readonly problem: string }>('Asking');
  useEffect(() => dialog.current?.showModal(), []);
  const { verb, about } = ACTIONS[action];
  const isSure = jobs.length === 1 || typed.trim() === String(jobs.length);
  const go = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (!isSure) return;
    setState('Doing');
    try {
      setState(await api.act({ action, jobs, count: jobs.length }));
    } catch (error) {
      setState({ problem: problemOf(error).message });
    }
  };
  const hasEnded = typeof state === 'object';
  const others = typeof state === 'object' && 'results' in state ? state.results.filter(({ outcome }) => outcome !== 'Done') : [];
  return (
    <dialog class="confirm" ref={dialog} onClose={() => close(typeof state === 'object' && 'results' in state)} aria-labelledby="confirm-head">
      <form onSubmit={(event) => void go(event)}>
        <h2 id="confirm-head">
          {verb} {count(jobs.length, 'Job')}?
        </h2>
        <p>{about}</p>
        <ul class="sample">
          {jobs.slice(0, 6).map((job) => (
            <li key={job}>{job}</li>
          ))}
          {jobs.length > 6 && <li class="soft">and {(jobs.length - 6).toLocaleString('en')} more</li>}
        </ul>
        {!hasEnded && jobs.length > 1 && (
          <label>
            <span>
              Type <b>{jobs.length}</b> to go on
            </span>
            <input inputMode="numeric" autocomplete="off" value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />
          </label>
        )}
        {hasEnded && (
          <div role="status">
            {'problem' in state ? <p class="problem">{state.problem}</p> : <p>Done with {state.done} of {jobs.length}.</p>}
            {others.length > 0 && (
              <ul class="sample">
                {others.slice(0, 20).map(({ name, outcome, message }) => (
                  <li key={name}>
                    {name}: {outcome.toLowerCase()}
                    {message !== undefined && `, ${message}`}
                  </li>
                ))}
              </ul>
            )}
          </div>
        )}
        <p class="choices">
          <button type="button" class="quiet" onClick={() => dialog.current?.close()}>
            {hasEnded ? 'Close' : 'Leave them'}
          </button>
          {!hasEnded && (
            <button type="submit" class={action === 'Cancel' ? 'danger' : ''} disabled={!isSure || state === 'Doing'}>
              {state === 'Doing' ? 'Doing it …' : `${verb} ${count(jobs.length, 'Job')}`}
            </button>
          )}
        </p>
      </form>
    </dialog>
  );
}
