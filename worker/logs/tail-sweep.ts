/**
 * Removes the ends of logs of copies that are gone. They are in a namespace of ours, where no garbage collector knows whose they are. The
 * worker removes them when it hears of the deletion of a copy, and when it begins to work those of copies of whose deletion it has not
 * heard.
 */
import { workerLeaseName } from '../../shared/api/fence-leases.ts';
import type { ConfigMap, DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import { copyOfLogTails } from '../../shared/api/log-tails.ts';
import { LOG_TAILS_JOB_NAMESPACE_LABEL, LOG_TAILS_LABEL } from '../../shared/api/names.ts';
import { CONFIG_MAPS } from '../../shared/api/resources.ts';
import { isForbidden } from '../../shared/kube/api-error.ts';
import type { ObjectList, ReadClient } from '../../shared/kube/client.ts';
import type { ControllerOptions } from '../../shared/kube/controller.ts';
import type { Lister } from '../../shared/kube/indexer.ts';
import type { EventHandler } from '../../shared/kube/informer.ts';
import type { Workqueue } from '../../shared/kube/workqueue.ts';
import { sleep, type Clock } from '../../shared/runtime/clock.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { TailStore } from './tail-store.ts';

export interface TailSweep {
  /** Of the Jobs. */
  readonly handler: EventHandler<Job>;
  readonly controller: ControllerOptions;
  /** The tails of this copy are to go with it. */
  note(job: DeepReadonly<Job>): void;
  /** Looks for what an earlier worker has left; the caches are filled. Resolves when all of that is found, or `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** The Jobs of this namespace have come into the cache. */
  takeIn(namespace: string): void;
}

export type TailSweepDeps = {
  readonly client: Pick<ReadClient, 'list'>;
  readonly store: Pick<TailStore, 'remove'>;
  readonly jobs: Lister<Job>;
  /** Whether all Jobs of a namespace are in the cache. */
  readonly isFilled: (namespace: string) => boolean;
  /** Where they are. */
  readonly namespace: string;
  readonly controllerName: string;
  readonly queue: Workqueue;
  readonly clock: Clock;
  readonly log: Logger;
};

const PAGE = 500;
/** A write that nobody waits for any more is carried out by then or never: API servers give up requests after a minute. */
const LATE_WRITE_MS = 120_000;
const RETRY_MS = 30_000;
/** Rights come with the chart. */
const FORBIDDEN_PAUSE_MS = 5 * 60_000;
const CONCURRENCY = 2;

export function createTailSweep(deps: TailSweepDeps): TailSweep {
  const { client, store, jobs, isFilled, namespace, controllerName, queue, clock, log } = deps;
  /** UIDs of copies of which tails may be there, and the namespaces of these copies. */
  const kept = new Map<string, string>();

  /** What is kept of copies that are not in the cache, though all of their namespace are. */
  function removeLeft(uids: readonly (readonly [uid: string, namespace: string])[]): void {
    const there = new Set(jobs.list().map(({ metadata }) => metadata.uid));
    for (const [uid, where] of uids) if (isFilled(where) && !there.has(uid)) queue.add(uid);
  }

  async function look(signal: AbortSignal): Promise<void> {
    const labelSelector = `${LOG_TAILS_LABEL}=${workerLeaseName(controllerName)}`;
    let continueToken: string | undefined;
    do {
      // Without the tails themselves, which may be 700 KiB each.
      const page: ObjectList<ConfigMap> = await client.list(
        CONFIG_MAPS,
        omitUndefined({ namespace, labelSelector, limit: PAGE, answer: 'metadata' as const, continueToken, signal }),
      );
      const found = page.items.flatMap(({ metadata: { name, labels } }) => {
        const uid = copyOfLogTails(name);
        return uid === undefined ? [] : [[uid, labels?.[LOG_TAILS_JOB_NAMESPACE_LABEL] ?? ''] as const];
      });
      for (const [uid, where] of found) kept.set(uid, where);
      removeLeft(found);
      continueToken = page.continueToken;
    } while (continueToken !== undefined);
  }

  return {
    handler: {
      deleted({ metadata: { uid } }) {
        if (kept.has(uid)) queue.add(uid);
      },
    },
    controller: {
      name: 'log-tails',
      queue,
      concurrency: CONCURRENCY,
      log,
      async reconcile(uid) {
        if (!(await store.remove(uid))) return { requeueAfterMs: LATE_WRITE_MS };
        kept.delete(uid);
        return undefined;
      },
    },
    note: ({ metadata }) => void kept.set(metadata.uid, metadata.namespace),
    async run(signal) {
      // What it has sent last may arrive after the first look.
      let looks = 0;
      while (!signal.aborted && looks < 2) {
        try {
          await look(signal);
          looks++;
          if (looks < 2) await sleep(clock, LATE_WRITE_MS, signal);
        } catch (error) {
          if (signal.aborted) return;
          log.warn('ends of logs that an earlier worker has kept cannot be looked for yet', { namespace, error });
          await sleep(clock, isForbidden(error) ? FORBIDDEN_PAUSE_MS : RETRY_MS, signal);
        }
      }
    },
    takeIn: (taken) => removeLeft([...kept].filter(([, where]) => where === taken)),
  };
}
