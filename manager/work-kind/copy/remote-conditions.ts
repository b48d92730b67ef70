import type { JobCondition } from '../../../shared/api/kubernetes.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { isJsonObject } from '../../api/json-value.ts';
import { sanitizeText } from '../../api/sanitize-text.ts';

/** The first condition of each type, without values that the manager cluster would reject. */
export function conditionsOf(list: readonly unknown[]): JobCondition[] {
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

/** Unknown fields, while they are few and small. */
export function smallFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const small = Object.entries(fields)
    .slice(0, UNKNOWN_FIELDS_MAX)
    .filter(([name, value]) => /^[a-zA-Z]\w{0,63}$/.test(name) && JSON.stringify(value).length <= UNKNOWN_LENGTH_MAX);
  return Object.fromEntries(small);
}

/** A time in RFC 3339; undefined for any other value. */
export const time = (value: unknown): string | undefined =>
  typeof value === 'string' && value.length <= 40 && TIME.test(value) && !Number.isNaN(Date.parse(value)) ? value : undefined;

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?(Z|[+-]\d\d:\d\d)$/;

/**
 * Bounds of metav1.Condition, except for the message, which is shorter here; messages of the Job controller have some hundred characters.
 */
const TYPE_LENGTH_MAX = 316;
const REASON_LENGTH_MAX = 1024;
const MESSAGE_LENGTH_MAX = 4096;
const CONDITIONS_MAX = 32;
const UNKNOWN_FIELDS_MAX = 16;
const UNKNOWN_LENGTH_MAX = 4096;
