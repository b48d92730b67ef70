/**
 * How far the Jobs of the cluster are each time a fence opens: what is known of a Job from before that may be over, because the watch of
 * Jobs may tell of what its manager has done later than the watch of Leases tells of the manager's answer.
 */
import { originOf } from '../../shared/api/copy-identity.ts';
import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import { FENCING_ANNOTATION } from '../../shared/api/names.ts';
import { JOBS } from '../../shared/api/resources.ts';
import type { ReadClient } from '../../shared/kube/client.ts';
import { isOlder } from '../../shared/kube/resource-version.ts';
import { sleep, type Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';

export type OpeningsDeps = {
  readonly client: Pick<ReadClient, 'list'>;
  readonly clock: Clock;
  readonly log: Logger;
  /** Where the worker's Jobs are; empty: anywhere. */
  readonly jobsNamespaces: readonly string[];
  /** How far the Jobs are is known for one more origin. */
  readonly onKnown: () => void;
};

export interface Openings {
  /** Whether the fence of this origin is open now. Asks how far the Jobs are when it has opened. */
  note(origin: string, isOpen: boolean, signal: AbortSignal | undefined): void;
  /** The fence of this origin is open, and how far the Jobs were after that is known. */
  isKnown(origin: string): boolean;
  /** What is known of this Job is from before the fence of its origin opened. */
  isUnsure(job: DeepReadonly<Job>): boolean;
  /** The server was asked, and this is what it has. */
  confirmed(job: DeepReadonly<Job>): void;
}

type Opening = { jobsVersion?: string };

const RETRY_MS = 2_000;

export function createOpenings({ client, clock, log, jobsNamespaces, onKnown }: OpeningsDeps): Openings {
  /** By origin, while its fence is open; its version is undefined until it is known. */
  const openings = new Map<string, Opening>();
  const confirmations = new WeakMap<DeepReadonly<Job>, Opening>();

  async function learnHowFar(origin: string, opening: Opening, signal: AbortSignal | undefined): Promise<void> {
    const isStopping = (): boolean => signal?.aborted === true;
    for (let turn = 0; openings.get(origin) === opening && opening.jobsVersion === undefined && !isStopping(); turn++) {
      // Versions are those of all Jobs, so one namespace tells them. Where one refuses, as after its Role was deleted, the next is asked.
      const namespace = jobsNamespaces[turn % jobsNamespaces.length];
      try {
        opening.jobsVersion = (await client.list(JOBS, omitUndefined({ namespace, limit: 1, signal }))).resourceVersion;
        onKnown();
      } catch (error) {
        if (isStopping()) return;
        log.warn('how far the Jobs are cannot be asked yet; until then no pod is created for this origin', { origin, error });
        await sleep(clock, RETRY_MS, signal);
      }
    }
  }

  return {
    note(origin, isOpen, signal) {
      if (!isOpen) openings.delete(origin);
      else if (!openings.has(origin)) {
        const opening: Opening = {};
        openings.set(origin, opening);
        void learnHowFar(origin, opening, signal);
      }
    },

    isKnown: (origin) => openings.get(origin)?.jobsVersion !== undefined,

    isUnsure(job) {
      const { annotations, resourceVersion } = job.metadata;
      const opening = annotations?.[FENCING_ANNOTATION] === 'off' ? undefined : openings.get(originOf(job) ?? '');
      return opening?.jobsVersion !== undefined && confirmations.get(job) !== opening && isOlder(resourceVersion, opening.jobsVersion);
    },

    confirmed(job) {
      const opening = openings.get(originOf(job) ?? '');
      if (opening !== undefined) confirmations.set(job, opening);
    },
  };
}
