import { createHmac, timingSafeEqual } from 'node:crypto';
import type { DeepReadonly, WorkObject } from '../../shared/api/kubernetes.ts';
import { SHARED_TENANT, SUBMISSION_SEAL_ANNOTATION } from '../../shared/api/names.ts';
import type { RecordKey, RecordKeys } from '../api/record-seal.ts';
import type { SubmissionRef } from './submission-queue.ts';

/** The name that a Job is created under: its UID is not known before. */
type NamedJob = { readonly namespace: string; readonly name: string };

/** A submission, the tenant whose it is, and what of it the Job was made of. */
export type SealedSubmission = SubmissionRef & { readonly tenant: string; readonly made: MadeOf };
/** Hash of the payload, and which attempt it is, counted from 1. */
export type MadeOf = { readonly payload: string; readonly attempt: number };
type SealedBy = Pick<SealedSubmission, 'id' | 'submittedAt' | 'tenant' | 'made'>;

/** What stands on a Job beside its submission, and says that the manager made that Job of that submission. */
export const sealSubmission = ({ current }: RecordKeys, job: NamedJob, submission: SealedBy): string =>
  digest(current, job, submission).toString('base64url');

/** Whether the manager made this Job of this submission. Whoever may create Jobs may write the annotations, but not the seal. */
export function isSealedSubmission({ current, others }: RecordKeys, { metadata }: DeepReadonly<WorkObject>, submission: SealedBy): boolean {
  const given = Buffer.from(metadata.annotations?.[SUBMISSION_SEAL_ANNOTATION] ?? '', 'base64url');
  return [current, ...others].some((key) => {
    const wanted = digest(key, metadata, submission);
    return given.length === wanted.length && timingSafeEqual(given, wanted);
  });
}

/** Texts in a JSON list cannot run into one another; the first says what is sealed, because the key seals other things, too. */
function digest(key: RecordKey, { namespace, name }: NamedJob, { id, submittedAt, tenant, made }: SealedBy): Buffer {
  const parts: unknown[] = ['switchyard.dev/submission', namespace, name, id, submittedAt];
  if (tenant !== SHARED_TENANT) parts.push(tenant);
  // A list, so that it is not taken for a tenant.
  parts.push([made.payload, made.attempt]);
  return createHmac('sha256', key).update(JSON.stringify(parts)).digest();
}
