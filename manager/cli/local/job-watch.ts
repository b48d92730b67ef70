import { JOBS } from '../../../shared/api/resources.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { createInformer } from '../../../shared/kube/informer.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { silentLogger } from '../../../shared/runtime/logger.ts';
import type { Display } from './display.ts';
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
  readonly nextTryMillis: (name: string) => number | undefined;
};

/** Follows the named Jobs on the manager cluster. */
export function watchJobs({ client, names, nextTryMillis }: JobWatchOptions, signal: AbortSignal): JobWatch {
  const rows = new Map<string, JobRow>();
  let changed: () => void = () => undefined;
  const informer = createInformer({ client, resource: JOBS, clock: systemClock, random: Math.random, log: silentLogger });
  const update = (job: Parameters<typeof jobRow>[0]): void => {
    if (!names.includes(job.metadata.name)) return;
    rows.set(job.metadata.name, withInstantsSeen(jobRow(job), rows.get(job.metadata.name), Date.now()));
    changed();
  };
  informer.addHandler({ added: update, updated: update });
  const run = informer.run(signal);
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
