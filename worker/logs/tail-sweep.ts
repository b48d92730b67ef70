/**
 * Removes the ends of logs of copies that are gone. They are in a namespace of ours, where no garbage collector knows whose they are. The
 * worker removes them when it hears of the deletion of a copy, and when it begins to work those of copies of whose deletion it has not
 * heard.
 */
import { workerLeaseName } from '../../shared/api/fence-leases.ts';
import type { ConfigMap } from '../../shared/api/kubernetes.ts';
import { copyOfLogTails } from '../../shared/api/log-tails.ts';
import { LOG_TAILS_JOB_NAMESPACE_LABEL, LOG_TAILS_KIND_ANNOTATION, LOG_TAILS_LABEL } from '../../shared/api/names.ts';
import { CONFIG_MAPS } from '../../shared/api/resources.ts';
import { isForbidden } from '../../shared/kube/api-error.ts';
import type { ObjectList, ReadClient } from '../../shared/kube/client.ts';
import type { ControllerOptions } from '../../shared/kube/controller.ts';
import type { Workqueue } from '../../shared/kube/workqueue.ts';
import { sleep, type Clock } from '../../shared/runtime/clock.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { type KeptCopy, otherKindOf } from './keep-rule.ts';
import type { TailStore } from './tail-store.ts';

export interface TailSweep {
  readonly controller: ControllerOptions;
  /** The tails of this copy are to go with it. */
  note(copy: KeptCopy): void;
  /** A copy is gone. */
  gone(copyUid: string): void;
  /** Looks for what an earlier worker has left; the caches are filled. Resolves when all of that is found, or `signal` aborts. */
  run(signal: AbortSignal): Promise<void>;
  /** The Jobs of this namespace, or the objects of another kind, have come into the caches. */
  takeIn(namespace: string | undefined): void;
}

export type TailSweepDeps = {
  readonly client: Pick<ReadClient, 'list'>;
  readonly store: Pick<TailStore, 'remove'>;
  /** UIDs of all objects in the caches. */
  readonly present: () => Iterable<string>;
  /** Whether all Jobs of a namespace are in the cache, or all objects of another kind there, by apiVersion and kind. */
  readonly isFilled: (namespace: string, otherKind: string | undefined) => boolean;
  /** Where they are. */
  readonly namespace: string;
  readonly controllerName: string;
  readonly queue: Workqueue;
  readonly clock: Clock;
  readonly log: Logger;
};

/** Where a copy is, and its kind, if it is no Job. */
type Place = { readonly namespace: string; readonly otherKind: string | undefined };

const PAGE = 500;
/** A write that nobody waits for any more is carried out by then or never: API servers give up requests after a minute. */
const LATE_WRITE_MS = 120_000;
const RETRY_MS = 30_000;
/** Rights come with the chart. */
const FORBIDDEN_PAUSE_MS = 5 * 60_000;
const CONCURRENCY = 2;

export function createTailSweep(deps: TailSweepDeps): TailSweep {
  const { client, store, present, isFilled, namespace, controllerName, queue, clock, log } = deps;
  /** Of which copies tails may be there, by UID. */
  const kept = new Map<string, Place>();

  /** What is kept of copies that are not in the caches, though all of their namespace and kind are. */
  function removeLeft(copies: Iterable<readonly [uid: string, place: Place]>): void {
    const there = new Set(present());
    for (const [uid, { namespace: where, otherKind }] of copies) if (isFilled(where, otherKind) && !there.has(uid)) queue.add(uid);
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
      const found = page.items.flatMap(({ metadata: { name, labels, annotations } }) => {
        const uid = copyOfLogTails(name);
        const where = labels?.[LOG_TAILS_JOB_NAMESPACE_LABEL] ?? '';
        return uid === undefined ? [] : [[uid, { namespace: where, otherKind: annotations?.[LOG_TAILS_KIND_ANNOTATION] }] as const];
      });
      for (const [uid, place] of found) kept.set(uid, place);
      removeLeft(found);
      continueToken = page.continueToken;
    } while (continueToken !== undefined);
  }

  return {
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
    note: (copy) => void kept.set(copy.metadata.uid, { namespace: copy.metadata.namespace, otherKind: otherKindOf(copy) }),
    gone(uid) {
      if (kept.has(uid)) queue.add(uid);
    },
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
    takeIn: (taken) => removeLeft([...kept].filter(([, { namespace: where }]) => taken === undefined || where === taken)),
  };
}
