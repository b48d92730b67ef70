import type { DeepReadonly, WorkObject } from '../../../shared/api/kubernetes.ts';
import type { ReadClient } from '../../../shared/kube/client.ts';
import type { Informer } from '../../../shared/kube/informer.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { localKeyOfCopy } from '../../work-kind/copy-marks.ts';
import { copiesByPods } from './copies-by-pods.ts';
import { type MarkWriter, restoreLabels } from './copies-by-template.ts';
import { listOnce } from './list-once.ts';

/**
 * Lists whatever one cluster has of this manager's Jobs, beyond the copies that carry its label: copies that have lost it, and, once the
 * manager cluster was restored, pods whose copy no longer exists.
 */
export interface CompleteListing {
  /** All is to be listed though no worker asks: the cluster has just joined, or the manager cluster was restored. */
  isDue(): boolean;
  /** Whether all was listed since the manager cluster was restored. */
  isComplete(): boolean;
  /** Lists all; keys of Jobs with copies that must not run, or undefined where the list failed. */
  outOfPlace(signal: AbortSignal): Promise<readonly string[] | undefined>;
}

export type CompleteListingDeps = {
  readonly cluster: MarkWriter & {
    /** The copies of the Job with this key. */
    readonly copiesOf: (localKey: string) => readonly unknown[];
  };
  /** Called for a copy that is not there and has left pods. */
  readonly onPods: (localKey: string, copy: WorkObject) => void;
  readonly client: Pick<ReadClient, 'list'>;
  /** Creates an informer of all work for a single list. */
  readonly allJobs: () => Informer<WorkObject>;
  /** Copies in namespaces that cannot be read now. */
  readonly unlisted: () => readonly DeepReadonly<WorkObject>[];
  /** Whether this copy is the one that may run, or rests. */
  readonly inPlace: (localKey: string, copy: DeepReadonly<WorkObject>) => boolean;
  readonly hasJoined: boolean;
  readonly homeRestored: () => boolean;
  /** Called when {@link CompleteListing.isComplete} becomes true. */
  readonly onComplete: () => void;
  readonly origin: string;
  readonly local: boolean;
  readonly servedNamespaces: readonly string[] | undefined;
  readonly clock: Clock;
  readonly log: Logger;
};

/** Timeout of the list of all Jobs that precedes the confirmation of a worker's fence token. */
const FRESH_LIST_MS = 60_000;
/** Between two lists where pods could not be listed. */
const AGAIN_MS = 30_000;

export function createCompleteListing(deps: CompleteListingDeps): CompleteListing {
  const { cluster, clock, origin, log, homeRestored } = deps;
  let listedFor: 'Nothing' | 'Joining' | 'Restore' = 'Nothing';
  let notBeforeMs = 0;

  /** False: the pods could not be listed. */
  async function findPodsWithoutCopy(signal: AbortSignal): Promise<boolean> {
    try {
      for await (const copy of copiesByPods({ ...deps, signal })) {
        const key = localKeyOfCopy(copy);
        if (cluster.copiesOf(key).length === 0) deps.onPods(key, copy);
      }
      return true;
    } catch (error) {
      if (!signal.aborted)
        log.warn('pods without their copy cannot be found: let the manager list pods there (chart switchyard-worker, managerAccess)', {
          error,
        });
      return false;
    }
  }

  return {
    isDue: () => (homeRestored() ? listedFor !== 'Restore' && clock.monotonic() >= notBeforeMs : deps.hasJoined && listedFor === 'Nothing'),
    isComplete: () => listedFor === 'Restore',
    async outOfPlace(signal) {
      const isRestored = homeRestored();
      const listed = await listOnce(deps.allJobs(), clock, FRESH_LIST_MS, signal);
      const copies = [...(listed ?? []), ...deps.unlisted()];
      await restoreLabels(cluster, copies, origin, log);
      if (listed !== undefined && isRestored && listedFor !== 'Restore') {
        if (await findPodsWithoutCopy(signal)) {
          listedFor = 'Restore';
          deps.onComplete();
        } else notBeforeMs = clock.monotonic() + AGAIN_MS;
      } else if (listed !== undefined && listedFor === 'Nothing') listedFor = 'Joining';
      const outOfPlace = copies.filter((copy) => !deps.inPlace(localKeyOfCopy(copy), copy));
      return listed && outOfPlace.map(localKeyOfCopy);
    },
  };
}
