import type { DeepReadonly, WorkObject } from '../../../shared/api/kubernetes.ts';
import { MANAGER_FIELD_MANAGER } from '../../../shared/api/names.ts';
import { isConflict, isNotFound } from '../../../shared/kube/api-error.ts';
import { parseKey } from '../../../shared/kube/keys.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { finalizersLeft } from './finalizers-left.ts';
import type { HomeAction } from '../decisions/mirror-plan.ts';
import { recordIn } from '../mirror/mirror-group.ts';
import { createStatusWindow, STATUS_WINDOW_MS, type StatusWindow } from '../mirror/status-window.ts';
import type { MirrorControllerDeps } from './mirror-controller-deps.ts';
import type { StatusLag } from './status-lag.ts';

/** Writes the status of a Job home, or removes the finalizer of a Job without copies, as `decideMirror` plans. */
export interface HomeWriter {
  /**
   * Writes, or returns the milliseconds until the write is due.
   *
   * @throws {Error} when the write fails for another reason than a conflict or a Job that is gone.
   */
  write(key: string, local: DeepReadonly<WorkObject> | undefined, action: HomeAction): Promise<number | undefined>;
}

export type HomeWriterDeps = Pick<MirrorControllerDeps, 'kind' | 'home' | 'clock' | 'log' | 'metrics' | 'readRecord' | 'isNoted'> & {
  readonly lag: StatusLag;
  /** Called with answers of the manager cluster's API server, before a watch delivers them. */
  readonly wrote: (key: string, job: WorkObject) => void;
};

export const createHomeWriter = (deps: HomeWriterDeps): HomeWriter => new Writer(deps);

class Writer implements HomeWriter {
  readonly #deps: HomeWriterDeps;
  readonly #window: StatusWindow;
  /** When a postponed status write is due, in epoch milliseconds. */
  readonly #dueMs = new Map<string, number>();

  constructor(deps: HomeWriterDeps) {
    this.#deps = deps;
    this.#window = createStatusWindow(deps.kind, deps.clock);
  }

  async write(key: string, local: DeepReadonly<WorkObject> | undefined, action: HomeAction): Promise<number | undefined> {
    if (action.kind === 'None' || local === undefined) {
      this.#dueMs.delete(key);
      this.#deps.lag.unneeded(key);
      return undefined;
    }
    if (action.kind === 'Release') return this.#release(key, local, action);
    const { kind, home, clock, metrics, readRecord, isNoted } = this.#deps;
    const nowMs = clock.now();
    const dueMs = this.#window.dueMs(local, action.status, this.#dueMs.get(key));
    if (!action.urgent && nowMs < dueMs) {
      this.#dueMs.set(key, dueMs);
      return dueMs - nowMs;
    }
    this.#dueMs.delete(key);
    const { uid, resourceVersion } = local.metadata;
    const finalizers = action.finalizers && finalizersLeft(action.finalizers, () => isNoted(local));
    const body = {
      metadata: { uid, resourceVersion, ...omitUndefined({ finalizers, annotations: action.annotations }) },
      status: action.patch,
    };
    const sentMs = clock.monotonic();
    try {
      const written = await home.patchStatus(
        kind.resource,
        parseKey(key),
        { type: 'merge', body },
        { fieldManager: MANAGER_FIELD_MANAGER },
      );
      this.#deps.wrote(key, written);
      this.#window.answered(clock.monotonic() - sentMs);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      // The cached Job was stale: its newer version is on the way, and enqueues this Job.
      if (isConflict(error)) return STATUS_WINDOW_MS;
      throw new Error(`write the status of Job ${key}`, { cause: error });
    }
    this.#deps.lag.written(key);
    metrics.statusWrites.inc({ cluster: recordIn(readRecord(local))?.cluster ?? '', terminal: String(action.urgent) });
    return undefined;
  }

  /** No copy is left: removes the finalizer. */
  async #release(
    key: string,
    local: DeepReadonly<WorkObject>,
    { finalizers: others, patch: status }: HomeAction & { kind: 'Release' },
  ): Promise<number | undefined> {
    const { kind, home, isNoted } = this.#deps;
    const { uid, resourceVersion } = local.metadata;
    const finalizers = finalizersLeft(others, () => isNoted(local));
    const body = { metadata: { uid, resourceVersion, finalizers }, ...omitUndefined({ status }) };
    const options = { fieldManager: MANAGER_FIELD_MANAGER };
    try {
      const patch = { type: 'merge', body } as const;
      const written =
        status === undefined
          ? home.patch(kind.resource, parseKey(key), patch, options)
          : home.patchStatus(kind.resource, parseKey(key), patch, options);
      this.#deps.wrote(key, await written);
      this.#deps.log.info('nothing of a Job is left', { job: key });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      if (isConflict(error)) return STATUS_WINDOW_MS;
      throw new Error(`take the finalizer off Job ${key}`, { cause: error });
    }
    return undefined;
  }
}
