import type { JobCondition, JobStatus } from '../../../../shared/api/kubernetes.ts';
import { omitUndefined } from '../../../../shared/runtime/omit-undefined.ts';
import { isJsonObject } from '../../../api/json-value.ts';
import { sanitizeText } from '../../../api/sanitize-text.ts';

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

/**
 * Bounds of metav1.Condition, except for the message, which is shorter here; messages of the Job controller have some hundred characters.
 */
const TYPE_LENGTH_MAX = 316;
const REASON_LENGTH_MAX = 1024;
const MESSAGE_LENGTH_MAX = 4096;
const CONDITIONS_MAX = 32;
const INT32_MAX = 2 ** 31 - 1;
/** 100,000 completions of which every second is done take 300 KB, and no Job may have more gaps. */
const INDEXES_LENGTH_MAX = 512 * 1024;
/** The Job controller lists at most 500 at a time. */
const UNCOUNTED_MAX = 1000;
const UID_LENGTH_MAX = 64;
const UNKNOWN_FIELDS_MAX = 16;
const UNKNOWN_LENGTH_MAX = 4096;

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

const count = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= INT32_MAX ? value : undefined;

const time = (value: unknown): string | undefined =>
  typeof value === 'string' && value.length <= 40 && TIME.test(value) && !Number.isNaN(Date.parse(value)) ? value : undefined;

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

/** The first condition of each type. */
function conditionsOf(list: readonly unknown[]): JobCondition[] {
  const found = new Map<string, JobCondition>();
  for (const each of list) {
    if (found.size === CONDITIONS_MAX) break;
    const condition = conditionOf(each);
    if (condition !== undefined && !found.has(condition.type)) found.set(condition.type, condition);
  }
  return [...found.values()];
}

function conditionOf(value: unknown): JobCondition | undefined {
  if (!isJsonObject(value)) return undefined;
  const { type, status, reason, message, lastProbeTime, lastTransitionTime, ...unknown } = value;
  if (typeof type !== 'string' || type === '' || type.length > TYPE_LENGTH_MAX) return undefined;
  if (status !== 'True' && status !== 'False' && status !== 'Unknown') return undefined;
  return {
    ...smallFields(unknown),
    type,
    status,
    ...omitUndefined({
      reason: typeof reason === 'string' ? sanitizeText(reason, REASON_LENGTH_MAX) : undefined,
      message: typeof message === 'string' ? sanitizeText(message, MESSAGE_LENGTH_MAX) : undefined,
      lastProbeTime: time(lastProbeTime),
      lastTransitionTime: time(lastTransitionTime),
    }),
  };
}

function smallFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const small = Object.entries(fields)
    .slice(0, UNKNOWN_FIELDS_MAX)
    .filter(([name, value]) => /^[a-zA-Z]\w{0,63}$/.test(name) && JSON.stringify(value).length <= UNKNOWN_LENGTH_MAX);
  return Object.fromEntries(small);
}
