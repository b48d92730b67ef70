import { createSecretKey, randomBytes } from 'node:crypto';
import type { ObjectKey, Secret } from '../../shared/api/kubernetes.ts';
import { MANAGER_FIELD_MANAGER, MANAGER_ID_ANNOTATION } from '../../shared/api/names.ts';
import { SECRETS } from '../../shared/api/resources.ts';
import { isConflict, isNotFound } from '../../shared/kube/api-error.ts';
import type { Patch, ReadClient } from '../../shared/kube/client.ts';
import { sleep } from '../../shared/runtime/clock.ts';
import type { RecordKeys } from '../api/record-seal.ts';
import { sealedByOther, sealedJob, type RecordKeyDeps } from './record-origin.ts';

/** The name of the key that seals; keys of other names only verify. */
export const CURRENT_KEY = 'current';
const KEY_BYTES = 32;
const RETRY_MS = 5_000;

/**
 * The keys that seal admission records, from their Secret, which is created where it is absent. It is not created while Jobs have sealed
 * records: the Secret was lost, and with another key all these Jobs would be suspended. This function then waits until the Secret is
 * restored, or an empty one confirms the suspension. Keys are not used either while a manager of another id has sealed unfinished Jobs with
 * them. Undefined when `signal` aborted first.
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

/** The keys, or a message with what is missing. */
async function readOrMake(deps: RecordKeyDeps, signal: AbortSignal): Promise<RecordKeys | string> {
  const { kind, client, secret, origin, log } = deps;
  const present = await read(client, secret, signal);
  const problem = present && (await sealedByOther(deps, present, signal));
  if (problem !== undefined) return problem;
  if (present !== undefined && Object.keys(present.data ?? {}).length > 0) return keysOf(present);
  const sealed = present === undefined ? await sealedJob(kind, client, signal) : undefined;
  if (sealed !== undefined) {
    return `${named(secret)} with the key of admission records is gone, and Jobs are sealed with it (${sealed}): restore the Secret, or create an empty one to have all Jobs suspended and admitted anew`;
  }
  const options = { fieldManager: MANAGER_FIELD_MANAGER, signal };
  const { metadata, data: known = {} } = present ?? (await client.patch(SECRETS, secret, anEmptySecret(secret), options));
  try {
    if (Object.keys(known).length === 0) {
      const data = { [CURRENT_KEY]: randomBytes(KEY_BYTES).toString('base64') };
      const body = { metadata: { resourceVersion: metadata.resourceVersion, annotations: { [MANAGER_ID_ANNOTATION]: origin } }, data };
      await client.patch(SECRETS, secret, { type: 'merge', body }, options);
      log.info('made a key for admission records', { secret: named(secret) });
    }
  } catch (error) {
    // Another replica was first: its key counts.
    if (!isConflict(error)) throw error;
  }
  const stored = await read(client, secret, signal);
  return stored === undefined ? `${named(secret)} with the key of admission records has vanished` : keysOf(stored);
}

/**
 * Creates the Secret where it is absent, and changes nothing of one that exists. RBAC can limit `create` to one name only if the request
 * names the object in its path, as an apply does: the manager has no right to create other Secrets.
 */
const anEmptySecret = (metadata: ObjectKey): Patch => ({ type: 'apply', body: { apiVersion: 'v1', kind: 'Secret', metadata } });

async function read(client: ReadClient, secret: ObjectKey, signal: AbortSignal): Promise<Secret | undefined> {
  try {
    return await client.get(SECRETS, secret, { signal });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}

/** The keys in the Secret; messages contain none of it. */
function keysOf(secret: Secret): RecordKeys | string {
  const where = named(secret.metadata);
  const keys = new Map(Object.entries(secret.data ?? {}).map(([name, text]) => [name, Buffer.from(text, 'base64')]));
  const short = [...keys].find(([, key]) => key.length < KEY_BYTES);
  if (short !== undefined) return `key "${short[0]}" of ${where} has ${short[1].length} bytes; write at least ${KEY_BYTES} random ones`;
  const current = keys.get(CURRENT_KEY);
  if (current === undefined) return `${where} has no key "${CURRENT_KEY}"; name the one that shall seal admission records so`;
  const others = [...keys].flatMap(([name, key]) => (name === CURRENT_KEY ? [] : [createSecretKey(key)]));
  return { current: createSecretKey(current), others };
}

const named = ({ namespace, name }: ObjectKey): string => `Secret ${namespace}/${name}`;
