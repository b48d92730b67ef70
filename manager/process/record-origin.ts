import type { DeepReadonly, ObjectKey, Secret, WorkObject } from '../../shared/api/kubernetes.ts';
import { MANAGER_CONTROLLER_NAME, MANAGER_FIELD_MANAGER, MANAGER_ID_ANNOTATION } from '../../shared/api/names.ts';
import { SECRETS } from '../../shared/api/resources.ts';
import { isConflict, isForbidden, isNotFound } from '../../shared/kube/api-error.ts';
import type { ReadClient, WriteClient } from '../../shared/kube/client.ts';
import { isFinished } from '../../shared/kube/conditions.ts';
import { sleep, type Clock } from '../../shared/runtime/clock.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { writtenRecordOf } from '../api/records.ts';
import type { WorkKind } from '../work-kind/work-kind.ts';

export type RecordKeyDeps = {
  readonly kind: WorkKind;
  readonly client: ReadClient & WriteClient;
  /** The Secret with the keys. */
  readonly secret: ObjectKey;
  /** Id of this manager. */
  readonly origin: string;
  /** Takes a message with what is missing and the remedy. */
  readonly onMissing: (problem: string) => void;
  readonly clock: Clock;
  readonly log: Logger;
};

const RETRY_MS = 5_000;
const PAGE = 500;

/**
 * Why this manager must not use records that are sealed with these keys: a manager of another id sealed them. Its copies on worker clusters
 * would not be seen, and would be created a second time. Undefined where it may use them.
 */
export async function sealedByOther(
  { kind, client, secret, origin }: Pick<RecordKeyDeps, 'kind' | 'client' | 'secret' | 'origin'>,
  { metadata }: Pick<Secret, 'metadata'>,
  signal: AbortSignal,
): Promise<string | undefined> {
  const other = metadata.annotations?.[MANAGER_ID_ANNOTATION];
  if (other === undefined || other === origin) return undefined;
  const job = await sealedJob(kind, client, signal);
  if (job === undefined) return undefined;
  return (
    `this manager has the id "${origin}", and a manager of the id "${other}" has sealed the records of Jobs (${job}), whose copies have its mark: start it with ` +
    `--manager-id=${other}; or let these Jobs end under that id first; or, where no copy of them is left on any worker cluster, set the annotation ` +
    `${MANAGER_ID_ANNOTATION} of ${named(secret)} to "${origin}"`
  );
}

/**
 * Writes the id of this manager next to the keys, because it seals records from now on. Only the leader may do so: until then another
 * manager may seal records. False: `signal` aborted first.
 */
export async function claimRecords(deps: RecordKeyDeps, signal: AbortSignal): Promise<boolean> {
  const { client, secret, origin, onMissing, clock, log } = deps;
  while (!signal.aborted) {
    try {
      const present = await client.get(SECRETS, secret, { signal });
      if (present.metadata.annotations?.[MANAGER_ID_ANNOTATION] === origin) return true;
      const problem = await sealedByOther(deps, present, signal);
      if (problem === undefined) {
        const metadata = { resourceVersion: present.metadata.resourceVersion, annotations: { [MANAGER_ID_ANNOTATION]: origin } };
        await client.patch(SECRETS, secret, { type: 'merge', body: { metadata } }, { fieldManager: MANAGER_FIELD_MANAGER, signal });
        return true;
      }
      onMissing(problem);
      log.error('records were sealed by a manager of another id', { why: problem });
    } catch (error) {
      if (signal.aborted) return false;
      const isUnwritable = isForbidden(error) || isNotFound(error);
      log.warn('the id of this manager cannot be kept with the key of admission records', { secret: named(secret), error });
      if (isUnwritable) return true;
      if (isConflict(error)) continue;
    }
    await sleep(clock, RETRY_MS, signal);
  }
  return false;
}

/**
 * Name of an unfinished Job with a sealed record; undefined when there is none. Reads a few pages, and only when the Secret has a problem.
 */
export async function sealedJob(kind: WorkKind, client: ReadClient, signal: AbortSignal): Promise<string | undefined> {
  let continueToken: string | undefined;
  do {
    const page = await client.list(kind.resource, { limit: PAGE, signal, ...omitUndefined({ continueToken }) });
    const sealed = page.items.find((job) => isSealedAndUnfinished(kind, job));
    if (sealed !== undefined) return `${sealed.metadata.namespace}/${sealed.metadata.name}`;
    continueToken = page.continueToken;
  } while (continueToken !== undefined && continueToken !== '');
  return undefined;
}

const isSealedAndUnfinished = (kind: WorkKind, job: DeepReadonly<WorkObject>): boolean =>
  kind.controllerOf(job) === MANAGER_CONTROLLER_NAME && !isFinished(job.status) && writtenRecordOf(job).kind === 'Record';

const named = ({ namespace, name }: ObjectKey): string => `Secret ${namespace}/${name}`;
