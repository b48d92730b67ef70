import type { Job } from '../../shared/api/kubernetes.ts';
import type { Resource } from '../../shared/api/resources.ts';
import { parseQualifiedName, wordOfName } from '../work-kind/qualified-name.ts';
import type { JobClient } from './cluster-connection.ts';
import { followObjects } from './follow-objects.ts';
import { continued, progressLine, lifecycleLine, type JobProgress } from '../api/job-progress.ts';
import { keyOf } from './jobs/read-jobs.ts';
import { plain } from './plain-text.ts';
import type { Progress } from './progress-bar.ts';
import { createProgressLine } from './progress-line.ts';
import type { Session } from './session.ts';

/** What became of a Job that was waited for; undefined outcome of one that somebody has deleted. */
export type Ended = { readonly job: Job; readonly story: JobProgress };

/** Objects of one kind in one namespace. */
type Place = { readonly resource: Resource<Job>; readonly namespace: string };

/** Of more, a terminal shows only those that failed. */
const LINES_MAX = 20;

/**
 * Follows Jobs until all have ended, and says so of each on standard error. Of several a terminal shows how far they are together, and,
 * where they are many, one by one only those that failed. Ends early when `signal` aborts, with those that have ended by then. `seen` is
 * told of each Job before anything is said of it, and of its end as such.
 */
export async function waitForJobs(
  { client, kind }: JobClient,
  jobs: readonly Job[],
  submittedMs: number,
  session: Session,
  signal: AbortSignal,
  seen: (job: Job, hasEnded: boolean) => Promise<void> = async () => undefined,
): Promise<readonly Ended[]> {
  const { errors, now } = session;
  const stories = new Map<string, JobProgress>(jobs.map(({ metadata }) => [metadata.uid, { submittedMs }]));
  const ended = new Map<string, Ended>();
  const said = new Map<string, string>();
  const all = new AbortController();
  const progress = createProgressLine(errors, jobs.length, now);
  const show = (): Promise<void> => progress.show(() => progressOf([...stories.values()], jobs.length), ended.size === jobs.length);
  const say = async (job: Job, words: string): Promise<void> => {
    if (said.get(job.metadata.uid) === words) return;
    said.set(job.metadata.uid, words);
    await progress.line(`${keyOf({ ...job, kind: wordOfName(kind, job.metadata.name) })} ${plain(words)}`);
  };
  const follow = ({ resource, namespace }: Place, fieldSelector: string | undefined): Promise<void> =>
    followObjects(
      client,
      {
        resource,
        namespace,
        seen: jobs.filter(({ metadata }) => metadata.namespace === namespace && kind.of(metadata.name).resource === resource),
        ...(fieldSelector === undefined ? {} : { fieldSelector }),
      },
      async (object, isGone) => {
        const job = object as Job;
        const { uid } = job.metadata;
        const before = stories.get(uid);
        if (before === undefined || ended.has(uid)) return;
        const story = continued(before, job, now());
        stories.set(uid, story);
        await seen(job, story.outcome !== undefined || isGone);
        if (story.outcome !== undefined || isGone) {
          ended.set(uid, { job, story });
          if (!progress.isShown || jobs.length <= LINES_MAX || story.outcome !== 'Complete')
            await say(job, story.outcome === undefined ? 'was deleted' : lifecycleLine(story));
          await show();
          if (ended.size === stories.size) all.abort();
          return;
        }
        if (progress.isShown) await show();
        else await say(job, progressLine(story, job));
      },
      AbortSignal.any([signal, all.signal]),
    );
  const places = new Map(
    jobs.map(({ metadata: { namespace, name } }): [string, Place] => {
      const { resource } = kind.of(name);
      return [`${resource.plural}.${resource.group}/${namespace}`, { resource, namespace }];
    }),
  );
  const only = jobs.length === 1 ? `metadata.name=${parseQualifiedName(jobs[0]?.metadata.name ?? '').name}` : undefined;
  try {
    await Promise.all([...places.values()].map((place) => follow(place, only)));
  } finally {
    await progress.end();
  }
  return [...ended.values()];
}

function progressOf(stories: readonly JobProgress[], total: number): Progress {
  const count = (is: (story: JobProgress) => boolean): number => stories.filter(is).length;
  const done = count(({ outcome }) => outcome !== undefined);
  const failed = count(({ outcome }) => outcome === 'Failed');
  const running = count(({ outcome, startedMs }) => outcome === undefined && startedMs !== undefined);
  const waiting = count(({ outcome, admittedMs }) => outcome === undefined && admittedMs === undefined);
  const words = [...(failed === 0 ? [] : [`${failed} failed`]), `${running} run`, `${waiting} wait`];
  return { done, total, words: done === total ? '' : words.join(', ') };
}
