import type { JobStatus } from '../../../../shared/api/kubernetes.ts';
import { omitUndefined } from '../../../../shared/runtime/omit-undefined.ts';
import { isJsonObject } from '../../../api/json-value.ts';
import { conditionsOf, smallFields, time } from '../../copy/remote-conditions.ts';

/**
 * The status of a Job from a worker cluster, without values that the manager cluster would reject: of the wrong type, too long, or too
 * many. An API server would reject the whole status for a single malformed time, again and again. Unknown fields stay while they are small.
 */
export function sanitizeRemoteStatus(said: unknown): JobStatus | undefined {
  if (!isJsonObject(said)) return undefined;
  const { conditions, uncountedTerminatedPods, completedIndexes, failedIndexes, startTime, completionTime, ...rest } = said;
  const { active, ready, terminating, succeeded, failed, ...unknown } = rest;
  return {
    ...smallFields(unknown),
    ...omitUndefined({
      active: count(active),
      ready: count(ready),
      terminating: count(terminating),
      succeeded: count(succeeded),
      failed: count(failed),
      startTime: time(startTime),
      completionTime: time(completionTime),
      completedIndexes: indexes(completedIndexes),
      failedIndexes: indexes(failedIndexes),
      uncountedTerminatedPods: uncounted(uncountedTerminatedPods),
      conditions: Array.isArray(conditions) ? conditionsOf(conditions) : undefined,
    }),
  };
}

const INT32_MAX = 2 ** 31 - 1;
/** 100,000 completions of which every second is done take 300 KB, and no Job may have more gaps. */
const INDEXES_LENGTH_MAX = 512 * 1024;
/** The Job controller lists at most 500 at a time. */
const UNCOUNTED_MAX = 1000;
const UID_LENGTH_MAX = 64;

const count = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= INT32_MAX ? value : undefined;

const indexes = (value: unknown): string | undefined =>
  typeof value === 'string' && value.length <= INDEXES_LENGTH_MAX && /^[\d,-]*$/.test(value) ? value : undefined;

function uncounted(value: unknown): JobStatus['uncountedTerminatedPods'] {
  if (!isJsonObject(value)) return undefined;
  const seen = new Set<string>();
  const uids = (list: unknown): string[] | undefined => {
    if (!Array.isArray(list)) return undefined;
    const kept: string[] = [];
    for (const uid of list.slice(0, UNCOUNTED_MAX)) {
      if (typeof uid !== 'string' || uid === '' || uid.length > UID_LENGTH_MAX || seen.has(uid)) continue;
      seen.add(uid);
      kept.push(uid);
    }
    return kept;
  };
  return omitUndefined({ succeeded: uids(value['succeeded']), failed: uids(value['failed']) });
}
