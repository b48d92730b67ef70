import { MANAGER_FIELD_MANAGER } from '../../shared/api/names.ts';
import { CONFIG_MAPS } from '../../shared/api/resources.ts';
import { isNotFound } from '../../shared/kube/api-error.ts';
import type { ReadClient, WriteClient } from '../../shared/kube/client.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { createKeptAnswers } from '../../shared/runtime/kept-answers.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import {
  formatSharedSubmissions,
  parseSharedSubmissions,
  REFUSALS_MAX,
  SHARED_SUBMISSIONS,
  type RedisProblem,
  type RefusedSubmission,
  type SharedSubmissions,
} from '../api/shared-submissions.ts';
import type { RedisTrouble } from './redis-health.ts';

export type SharedQueueRecordDeps = {
  readonly client: Pick<ReadClient, 'get'> & Pick<WriteClient, 'create' | 'patch'>;
  /** Where the ConfigMap is: the manager's own namespace. */
  readonly namespace: string;
  readonly clock: Clock;
};

/**
 * The shared queue described in a ConfigMap, as no object has its status: for dashboards of other replicas, and across restarts. For the
 * leader alone.
 */
export interface SharedQueueRecord {
  /** A submission was refused. It is recorded with the next write. */
  refused(refusal: RefusedSubmission): void;
  /**
   * Writes what has changed. `troubles`: of Redis; undefined: nobody has looked. Rejects if the API server does not take it; the next write
   * then has it.
   */
  write(figures: Omit<SharedSubmissions, 'redis' | 'refusals'>, troubles: readonly RedisTrouble[] | undefined): Promise<void>;
}

const OPTIONS = { fieldManager: MANAGER_FIELD_MANAGER };

export function createSharedQueueRecord({ client, namespace, clock }: SharedQueueRecordDeps): SharedQueueRecord {
  const key = { namespace, name: SHARED_SUBMISSIONS };
  /** Undefined: what earlier leaders have recorded is not read yet. */
  let written: Readonly<Record<string, string>> | undefined;
  let refusals: readonly RefusedSubmission[] = [];
  let redis: RedisProblem | undefined;

  const read = async (): Promise<Readonly<Record<string, string>>> => {
    try {
      return (await client.get(CONFIG_MAPS, key)).data ?? {};
    } catch (error) {
      if (isNotFound(error)) return {};
      throw new Error('read what is recorded of the shared queue', { cause: error });
    }
  };

  const store = async (data: Readonly<Record<string, string>>, changed: Readonly<Record<string, string>>): Promise<void> => {
    try {
      await client.patch(CONFIG_MAPS, key, { type: 'merge', body: { data: changed } }, OPTIONS);
    } catch (error) {
      if (!isNotFound(error)) throw error;
      await client.create(CONFIG_MAPS, { metadata: key, data }, OPTIONS);
    }
  };

  return {
    refused(refusal) {
      refusals = [refusal, ...refusals].slice(0, REFUSALS_MAX);
    },
    async write(figures, troubles) {
      if (written === undefined) {
        const found = await read();
        const before = parseSharedSubmissions(found);
        refusals = [...refusals, ...(before?.refusals ?? [])].slice(0, REFUSALS_MAX);
        redis = before?.redis;
        written = found;
      }
      redis = redisProblem(redis, troubles, clock.now());
      const data = formatSharedSubmissions({ ...figures, ...omitUndefined({ redis }), refusals });
      const known = written;
      const changed = Object.fromEntries(Object.entries(data).filter(([name, text]) => known[name] !== text));
      if (Object.keys(changed).length === 0) return;
      await store(data, changed);
      written = data;
    },
  };
}

/** The leader writes it every ten seconds at most. */
const SHARED_TTL_MS = 5_000;

/** Reads how the leader describes the shared queue, once in a while for all viewers. Undefined: no leader has. */
export function sharedQueueReader(
  client: Pick<ReadClient, 'get'>,
  namespace: string,
  clock: Clock,
): () => Promise<SharedSubmissions | undefined> {
  const kept = createKeptAnswers<{ readonly told: SharedSubmissions | undefined }>({
    most: 1,
    keptMs: () => SHARED_TTL_MS,
    ownerOf: () => undefined,
    clock,
  });
  const read = async (): Promise<SharedSubmissions | undefined> => {
    try {
      return parseSharedSubmissions((await client.get(CONFIG_MAPS, { namespace, name: SHARED_SUBMISSIONS })).data);
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  };
  return async () => (await kept.of(SHARED_SUBMISSIONS, async () => ({ told: await read() }))).told;
}

/** The last problem of Redis, after the problem before and what is wrong now, the gravest first. */
export function redisProblem(
  before: RedisProblem | undefined,
  troubles: readonly RedisTrouble[] | undefined,
  nowMs: number,
): RedisProblem | undefined {
  if (troubles === undefined) return before;
  const [gravest] = troubles;
  const lasts = before !== undefined && before.untilMs === undefined;
  if (gravest === undefined) return lasts ? { ...before, untilMs: nowMs } : before;
  const { reason, message, works } = gravest;
  return lasts && before.reason === reason ? before : { reason, message, works, sinceMs: nowMs };
}
