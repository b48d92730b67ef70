import type { DeepReadonly, KubeObject } from '../../../shared/api/kubernetes.ts';
import { JOBS, type Resource } from '../../../shared/api/resources.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { createInformer } from '../../../shared/kube/informer.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { silentLogger } from '../../../shared/runtime/logger.ts';
import type { Display } from './display.ts';
import { JOB_SETS } from './job-set/definition.ts';
import { jobSetRow } from './job-set/row.ts';
import { isFinished, jobRow, withInstantsSeen, type JobRow } from '../job-row.ts';

export type JobWatch = {
  /** In the order of the names. */
  rows(): readonly JobRow[];
  /** Shows every change; true once all Jobs have ended, false when the time is over first. */
  untilFinished(display: Display, timeoutMs: number): Promise<boolean>;
};

const REPAINT_MS = 500;

export type JobWatchOptions = {
  readonly client: KubeClient;
  readonly names: readonly string[];
  /** JobSets are watched, too. */
  readonly jobSets: boolean;
  readonly nextTryMillis: (name: string) => number | undefined;
};

/** Follows the named Jobs and JobSets on the manager cluster. */
export function watchJobs({ client, names, jobSets, nextTryMillis }: JobWatchOptions, signal: AbortSignal): JobWatch {
  const rows = new Map<string, JobRow>();
  let changed: () => void = () => undefined;
  const follow = <T extends KubeObject>(resource: Resource<T>, rowOf: (object: DeepReadonly<T>) => JobRow): Promise<void> => {
    const informer = createInformer({ client, resource, clock: systemClock, random: Math.random, log: silentLogger });
    const update = (object: DeepReadonly<T>): void => {
      const row = rowOf(object);
      if (!names.includes(row.name)) return;
      rows.set(row.name, withInstantsSeen(row, rows.get(row.name), Date.now()));
      changed();
    };
    informer.addHandler({ added: update, updated: update });
    return informer.run(signal);
  };
  const run = Promise.all([follow(JOBS, jobRow), ...(jobSets ? [follow(JOB_SETS, (object) => jobSetRow(object, Date.now()))] : [])]);
  const inOrder = (): readonly JobRow[] =>
    names.flatMap((name) => {
      const row = rows.get(name);
      return row === undefined ? [] : { ...row, nextTryMillis: nextTryMillis(name) };
    });
  return {
    rows: inOrder,
    async untilFinished(display, timeoutMs) {
      const show = (): void => display.show(inOrder());
      const repaint = setInterval(show, REPAINT_MS);
      const deadline = Promise.withResolvers<boolean>();
      const timer = setTimeout(() => deadline.resolve(false), timeoutMs);
      const finished = new Promise<boolean>((resolve) => {
        changed = () => {
          show();
          const all = inOrder();
          if (all.length === names.length && all.every(isFinished)) resolve(true);
        };
        changed();
      });
      try {
        return await Promise.race([finished, deadline.promise, run.then(() => false)]);
      } finally {
        clearInterval(repaint);
        clearTimeout(timer);
        changed = () => undefined;
      }
    },
  };
}
