import type { ObjectKey } from '../../shared/api/kubernetes.ts';
import { isJsonObject } from '../api/json-value.ts';
import { parseQualifiedName } from '../work-kind/qualified-name.ts';
import type { ParkedSubmission } from './submission-queue.ts';

/**
 * Whether a record from Redis has the shape that the manager writes. An API server takes a UID of another type for no precondition at all.
 */
export const isParked = ({ ref, job, uid, attempt }: { readonly [Field in keyof ParkedSubmission]?: unknown }): boolean =>
  isJsonObject(ref) &&
  isText(ref['key']) &&
  isText(ref['id']) &&
  Number.isSafeInteger(ref['submittedAt']) &&
  isNamed(job) &&
  isText(uid) &&
  Number.isSafeInteger(attempt);

/** Whether it names a Job, or an object of another kind (`qualified-name.ts`): a name that is a path would be another request. */
export const isNamed = (key: unknown): key is ObjectKey => isJsonObject(key) && isName(key['namespace']) && isQualifiedName(key['name']);

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
const isQualifiedName = (value: unknown): boolean =>
  typeof value === 'string' && Object.values(parseQualifiedName(value)).every((part) => part === undefined || isName(part));
const isName = (value: unknown): boolean => typeof value === 'string' && /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/.test(value);
