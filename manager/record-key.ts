import { randomBytes } from 'node:crypto';
import type { DeepReadonly, Job, ObjectKey, Secret } from '../shared/api/kubernetes.ts';
import { MANAGER_CONTROLLER_NAME, MANAGER_FIELD_MANAGER } from '../shared/api/names.ts';
import { JOBS, SECRETS } from '../shared/api/resources.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../shared/kube/api-error.ts';
import type { ReadClient, WriteClient } from '../shared/kube/client.ts';
import { isFinished } from '../shared/kube/conditions.ts';
import { sleep, type Clock } from '../shared/runtime/clock.ts';
import type { Logger } from '../shared/runtime/logger.ts';
import type { RecordKeys } from './api/record-seal.ts';
import { writtenRecordOf } from './api/records.ts';

export type RecordKeyDeps = {
  readonly client: ReadClient & WriteClient;
  /** The Secret with the keys. */
  readonly secret: ObjectKey;
  /** Told what is missing, in words that say what to do about it. */
  readonly onMissing: (problem: string) => void;
  readonly clock: Clock;
  readonly log: Logger;
};

/** The key of this name seals; those of other names are accepted beside it. */
export const CURRENT_KEY = 'current';
const KEY_BYTES = 32;
const RETRY_MS = 5_000;
const PAGE = 500;

/**
 * The keys that seal admission records, from their Secret, which is made where it is absent. It is not made while Jobs carry sealed records:
 * somebody has lost it, and with another key all of them would be suspended. Then this waits until the Secret is there again, or an empty
 * one, which says that they shall be. Undefined when `signal` aborted first.
 */
export async function recordKeys(deps: RecordKeyDeps, signal: AbortSignal): Promise<RecordKeys | undefined> {
  const { clock, log, onMissing } = deps;
  while (!signal.aborted) {
    try {
      const keys = await readOrMake(deps, signal);
      if (typeof keys !== 'string') return keys;
      onMissing(keys);
      log.error('records cannot be checked', { why: keys });
    } catch (error) {
      if (!signal.aborted) {
        onMissing(`${named(deps.secret)} with the key of admission records cannot be read or written`);
        log.warn('the key of admission records cannot be read yet', { secret: named(deps.secret), error });
      }
    }
    await sleep(clock, RETRY_MS, signal);
  }
  return undefined;
}

/** The keys, or what is missing. */
async function readOrMake(deps: RecordKeyDeps, signal: AbortSignal): Promise<RecordKeys | string> {
  const { client, secret, log } = deps;
  const present = await read(client, secret, signal);
  if (present !== undefined && Object.keys(present.data ?? {}).length > 0) return keysOf(present);
  const sealed = present === undefined ? await sealedJob(client, signal) : undefined;
  if (sealed !== undefined) {
    return `${named(secret)} with the key of admission records is gone, and Jobs are sealed with it (${sealed}): restore the Secret, or create an empty one to have all Jobs suspended and admitted anew`;
  }
  const data = { [CURRENT_KEY]: randomBytes(KEY_BYTES).toString('base64') };
  const options = { fieldManager: MANAGER_FIELD_MANAGER, signal };
  try {
    if (present === undefined) await client.create(SECRETS, { metadata: secret, data }, options);
    else {
      const body = { metadata: { resourceVersion: present.metadata.resourceVersion }, data };
      await client.patch(SECRETS, secret, { type: 'merge', body }, options);
    }
    log.info('made a key for admission records', { secret: named(secret) });
  } catch (error) {
    // Another replica was faster: its key counts.
    if (!isAlreadyExists(error) && !isConflict(error)) throw error;
  }
  const stored = await read(client, secret, signal);
  return stored === undefined ? `${named(secret)} with the key of admission records has vanished` : keysOf(stored);
}

async function read(client: ReadClient, secret: ObjectKey, signal: AbortSignal): Promise<Secret | undefined> {
  try {
    return await client.get(SECRETS, secret, { signal });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** What stands in the Secret; nothing of it is repeated. */
function keysOf(secret: Secret): RecordKeys | string {
  const where = named(secret.metadata);
  const keys = new Map(Object.entries(secret.data ?? {}).map(([name, text]) => [name, Buffer.from(text, 'base64')]));
  const short = [...keys].find(([, key]) => key.length < KEY_BYTES);
  if (short !== undefined) return `key "${short[0]}" of ${where} has ${short[1].length} bytes; write at least ${KEY_BYTES} random ones`;
  const current = keys.get(CURRENT_KEY);
  if (current === undefined) return `${where} has no key "${CURRENT_KEY}"; name the one that shall seal admission records so`;
  return { current, others: [...keys].flatMap(([name, key]) => (name === CURRENT_KEY ? [] : [key])) };
}

/** Name of an unfinished Job with a record that has a seal; undefined when there is none. A few pages, and only where the Secret is absent. */
async function sealedJob(client: ReadClient, signal: AbortSignal): Promise<string | undefined> {
  let continueToken: string | undefined;
  do {
    const page = await client.list(JOBS, { limit: PAGE, signal, ...(continueToken === undefined ? {} : { continueToken }) });
    const sealed = page.items.find(isSealedAndUnfinished);
    if (sealed !== undefined) return `${sealed.metadata.namespace}/${sealed.metadata.name}`;
    continueToken = page.continueToken;
  } while (continueToken !== undefined && continueToken !== '');
  return undefined;
}

const isSealedAndUnfinished = (job: DeepReadonly<Job>): boolean =>
  job.spec.managedBy === MANAGER_CONTROLLER_NAME && !isFinished(job.status) && writtenRecordOf(job).kind === 'Record';

const named = ({ namespace, name }: ObjectKey): string => `Secret ${namespace}/${name}`;
