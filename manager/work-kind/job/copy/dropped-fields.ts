import type { DeepReadonly, JobSpec } from '../../../../shared/api/kubernetes.ts';
import { isJsonObject } from '../../../api/json-value.ts';
import { MUTABLE_FIELDS } from './remote-job.ts';
import { sameJson } from '../../../api/json-diff.ts';

/**
 * The fields of a Job's spec that an API server has dropped, by its answer to the create. An older server drops unknown fields, and fields
 * of a disabled feature, without an error; strict field validation does not report the latter. Fields that the server adds are its
 * defaults. In the pod template only missing fields count: changed values (such as an image of the cluster's own registry) come from
 * admission webhooks. Fields that are carried to the copy after its creation may differ, too.
 */
export function droppedFields(sent: DeepReadonly<JobSpec>, kept: unknown): string[] {
  const answer = isJsonObject(kept) ? kept : {};
  const dropped: string[] = [];
  for (const [field, value] of Object.entries(sent)) {
    const path = `spec.${field}`;
    if (isMissing(value, answer[field])) dropped.push(path);
    else if (field === 'template') dropped.push(...missingBelow(value, answer[field], path));
    else if (!CARRIED.includes(field) && !keeps(value, answer[field])) dropped.push(path);
  }
  return dropped.slice(0, LISTED_MAX);
}

/** The dropped fields of a copy that may have changed since its creation: checks immutable fields only. */
export function droppedOfOlder(sent: DeepReadonly<JobSpec>, kept: unknown): string[] {
  const { template: _template, ...fields } = sent;
  const fixed = Object.entries(fields).filter(([field]) => !CARRIED.includes(field));
  return droppedFields(Object.fromEntries(fixed) as DeepReadonly<JobSpec>, kept);
}

// A server that drops podReplacementPolicy may set its default, and then lets no client change it.
const CARRIED: readonly string[] = ['suspend', ...MUTABLE_FIELDS.filter((field) => field !== 'podReplacementPolicy')];
const LISTED_MAX = 10;

/**
 * Paths of fields that were sent and are missing. List items with names are matched by name, because a webhook may add items between them.
 */
function missingBelow(sent: unknown, kept: unknown, path: string): string[] {
  if (isMissing(sent, kept)) return [path];
  if (Array.isArray(sent)) return missingItems(sent, Array.isArray(kept) ? kept : [], path);
  if (!isJsonObject(sent) || !isJsonObject(kept)) return [];
  return Object.entries(sent).flatMap(([field, value]) => missingBelow(value, kept[field], `${path}.${field}`));
}

function missingItems(sent: readonly unknown[], kept: readonly unknown[], path: string): string[] {
  if (kept.length < sent.length) return [path];
  return sent.flatMap((item, index) => {
    const here = `${path}[${index}]`;
    const name = nameOf(item);
    const candidates =
      name === undefined ? (kept.length === sent.length ? [kept[index]] : kept) : kept.filter((each) => nameOf(each) === name);
    const missing = candidates.map((candidate) => missingBelow(item, candidate, here));
    return missing.find((each) => each.length === 0) ?? missing[0] ?? [here];
  });
}

/** True when all of `sent` is there, in the same order; objects may have further fields. */
function keeps(sent: unknown, kept: unknown): boolean {
  if (isNothing(sent)) return isNothing(kept) || isJsonObject(kept);
  if (Array.isArray(sent))
    return Array.isArray(kept) && kept.length === sent.length && sent.every((item, index) => keeps(item, kept[index]));
  if (isJsonObject(sent)) return isJsonObject(kept) && Object.entries(sent).every(([field, value]) => keeps(value, kept[field]));
  return sameJson(sent, kept);
}

const isMissing = (sent: unknown, kept: unknown): boolean => !isNothing(sent) && (kept === undefined || kept === null);

/** Values that API servers omit from storage, because their absence means the same. */
function isNothing(value: unknown): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (isJsonObject(value)) return Object.values(value).every(isNothing);
  return value === undefined || value === null || value === '' || value === 0 || value === false;
}

function nameOf(item: unknown): string | undefined {
  const name = isJsonObject(item) ? item['name'] : undefined;
  return typeof name === 'string' ? name : undefined;
}
