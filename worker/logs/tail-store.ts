/**
 * Puts the tails of a copy's logs into its ConfigMap: one write at a time for each copy, and what comes meanwhile goes together into the
 * next.
 */
import { workerLeaseName } from '../../shared/api/fence-leases.ts';
import type { ConfigMap } from '../../shared/api/kubernetes.ts';
import { LOG_TAILS_BYTES_MAX, logTailsName } from '../../shared/api/log-tails.ts';
import {
  LOG_TAILS_JOB_NAME_LABEL,
  LOG_TAILS_JOB_NAMESPACE_LABEL,
  LOG_TAILS_KIND_ANNOTATION,
  LOG_TAILS_LABEL,
  ORIGIN_LABEL,
  WORKER_FIELD_MANAGER,
} from '../../shared/api/names.ts';
import { CONFIG_MAPS } from '../../shared/api/resources.ts';
import { ApiError, isAlreadyExists, isNotFound } from '../../shared/kube/api-error.ts';
import type { WriteClient } from '../../shared/kube/client.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { withDeadline } from '../../shared/runtime/deadline.ts';
import { ownerReferenceTo } from '../job/pod-template.ts';
import { type KeptCopy, otherKindOf } from './keep-rule.ts';

export interface TailStore {
  /**
   * Resolves when it is stored, with true, or at once with false when there is no room left for this copy. Throws what the API server
   * answers, and when `signal` aborts first; it may be stored then all the same.
   */
  keep(copy: KeptCopy, pod: string, tail: Buffer, signal: AbortSignal): Promise<boolean>;
  /** No more comes of this copy. */
  forget(jobUid: string): void;
  /**
   * Deletes what is kept of a copy, once no write of it is under way. Throws what the API server answers, unless it is there no more.
   * False: a write of it was not answered, and may be carried out after the deletion.
   */
  remove(jobUid: string): Promise<boolean>;
}

export type TailStoreOptions = {
  readonly client: Pick<WriteClient, 'create' | 'patch' | 'delete'>;
  readonly clock: Clock;
  /** `spec.managedBy` of the Jobs that the worker runs. */
  readonly controllerName: string;
  /** Where the ConfigMaps are; undefined: each beside its copy, with which it goes. */
  readonly namespace: string | undefined;
  /** Told before a ConfigMap in that namespace is written that is to be removed with this copy. */
  readonly onKept: (copy: KeptCopy) => void;
};

/** In one write: a batch that comes on top of all that there was before a restart still fits into a ConfigMap. */
const BATCH_BYTES_MAX = 256 * 1024;
/** Names of Jobs may be longer where these have selectors of their own. */
const LABEL_VALUE_MAX = 63;
/** Longest wait for the answer to a write; those who wait for it have given up by then. */
const WRITE_MS = 3_000;

type Batch = { readonly tails: Map<string, Buffer>; bytes: number; readonly done: Promise<void> };
type Kept = { bytes: number; exists: boolean; writing: Promise<unknown>; next: Batch | undefined };

export function createTailStore(options: TailStoreOptions): TailStore {
  return new ConfigMapStore(options);
}

class ConfigMapStore implements TailStore {
  readonly #options: TailStoreOptions;
  readonly #copies = new Map<string, Kept>();
  /** Of copies that are forgotten, while they are under way. */
  readonly #lastWrites = new Map<string, Promise<unknown>>();
  /** UIDs of copies of which a write was not answered. */
  readonly #unanswered = new Set<string>();

  constructor(options: TailStoreOptions) {
    this.#options = options;
  }

  async keep(copy: KeptCopy, pod: string, tail: Buffer, signal: AbortSignal): Promise<boolean> {
    const { namespace: place, onKept } = this.#options;
    const { uid } = copy.metadata;
    const kept = this.#copies.get(uid) ?? { bytes: 0, exists: false, writing: Promise.resolve(), next: undefined };
    this.#copies.set(uid, kept);
    if (kept.bytes + tail.length > LOG_TAILS_BYTES_MAX || (kept.next?.bytes ?? 0) + tail.length > BATCH_BYTES_MAX) return false;
    kept.bytes += tail.length;
    if (place !== undefined) onKept(copy);
    const batch = kept.next ?? this.#enqueue(copy, kept);
    batch.tails.set(pod, tail);
    batch.bytes += tail.length;
    await until(batch.done, signal);
    return true;
  }

  #enqueue(copy: KeptCopy, kept: Kept): Batch {
    const { clock, namespace: place } = this.#options;
    const tails = new Map<string, Buffer>();
    const done = kept.writing.then(async () => {
      kept.next = undefined;
      try {
        await withDeadline(clock, WRITE_MS, undefined, (signal) => this.#write(copy, kept, tails, signal));
      } catch (error) {
        if (place !== undefined && (!(error instanceof ApiError) || error.code >= 500)) this.#unanswered.add(copy.metadata.uid);
        throw error;
      }
    });
    const batch: Batch = { tails, bytes: 0, done };
    kept.next = batch;
    kept.writing = Promise.allSettled([done]);
    return batch;
  }

  async #write(copy: KeptCopy, kept: Kept, tails: ReadonlyMap<string, Buffer>, signal: AbortSignal): Promise<void> {
    const { namespace: place, client } = this.#options;
    const binaryData = Object.fromEntries([...tails].map(([pod, tail]) => [pod, tail.toString('base64')]));
    const name = logTailsName(copy.metadata.uid);
    const namespace = place ?? copy.metadata.namespace;
    const options = { fieldManager: WORKER_FIELD_MANAGER, signal };
    if (!kept.exists) {
      try {
        await client.create(CONFIG_MAPS, { metadata: { name, namespace, ...this.#marksOf(copy) }, binaryData }, options);
        kept.exists = true;
        return;
      } catch (error) {
        if (!isAlreadyExists(error)) throw error;
        // Made before this worker began.
        kept.exists = true;
      }
    }
    try {
      const all = await client.patch(CONFIG_MAPS, { namespace, name }, { type: 'merge', body: { binaryData } }, options);
      kept.bytes = Math.max(kept.bytes, bytesOf(all));
    } catch (error) {
      if (isNotFound(error)) kept.exists = false;
      throw error;
    }
  }

  /** An owner is in the namespace of what it owns, or it is none. */
  #marksOf(copy: KeptCopy): Pick<ConfigMap['metadata'], 'labels' | 'annotations' | 'ownerReferences'> {
    const { namespace: place, controllerName } = this.#options;
    const { namespace, name, labels } = copy.metadata;
    const origin = { [ORIGIN_LABEL]: labels?.[ORIGIN_LABEL] ?? '' };
    if (place === undefined) {
      const { blockOwnerDeletion: _, ...owner } = ownerReferenceTo(copy);
      return { labels: origin, ownerReferences: [owner] };
    }
    const named = name.length <= LABEL_VALUE_MAX ? { [LOG_TAILS_JOB_NAME_LABEL]: name } : {};
    const whose = { [LOG_TAILS_JOB_NAMESPACE_LABEL]: namespace, ...named };
    const other = otherKindOf(copy);
    return {
      labels: { ...origin, ...whose, [LOG_TAILS_LABEL]: workerLeaseName(controllerName) },
      ...(other === undefined ? {} : { annotations: { [LOG_TAILS_KIND_ANNOTATION]: other } }),
    };
  }

  forget(jobUid: string): void {
    const kept = this.#copies.get(jobUid);
    this.#copies.delete(jobUid);
    if (kept === undefined) return;
    const { writing } = kept;
    this.#lastWrites.set(jobUid, writing);
    void writing.then(() => this.#lastWrites.get(jobUid) === writing && this.#lastWrites.delete(jobUid));
  }

  async remove(jobUid: string): Promise<boolean> {
    const { namespace: place, clock, client } = this.#options;
    if (place === undefined) return true;
    await (this.#copies.get(jobUid)?.writing ?? this.#lastWrites.get(jobUid));
    this.#copies.delete(jobUid);
    try {
      await withDeadline(clock, WRITE_MS, undefined, (signal) =>
        client.delete(CONFIG_MAPS, { namespace: place, name: logTailsName(jobUid) }, { signal }),
      );
    } catch (error) {
      if (!isNotFound(error)) throw error;
    }
    return !this.#unanswered.delete(jobUid);
  }
}

const bytesOf = ({ binaryData = {} }: ConfigMap): number =>
  Object.values(binaryData).reduce((sum, each) => sum + Math.floor((each.length * 3) / 4), 0);

/** Whoever waits no longer hears nothing of what becomes of it. */
async function until(done: Promise<void>, signal: AbortSignal): Promise<void> {
  const over = Promise.withResolvers<never>();
  const give = (): void => over.reject(signal.reason);
  signal.throwIfAborted();
  signal.addEventListener('abort', give, { once: true });
  try {
    await Promise.race([done, over.promise]);
  } finally {
    signal.removeEventListener('abort', give);
  }
}
