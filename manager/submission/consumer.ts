import type { Job } from '../../shared/api/kubernetes.ts';
import { MANAGER_FIELD_MANAGER, SUBMISSION_SEAL_ANNOTATION } from '../../shared/api/names.ts';
import { JOBS } from '../../shared/api/resources.ts';
import { ApiError, hasStatusCause, isAlreadyExists } from '../../shared/kube/api-error.ts';
import type { ReadClient, WriteClient } from '../../shared/kube/client.ts';
import { objectKey } from '../../shared/kube/keys.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { SubmissionMetrics } from '../metrics.ts';
import type { JobRules } from '../api/job-rules.ts';
import type { JobManifest } from '../prepare-job.ts';
import type { RecordKeys } from '../api/record-seal.ts';
import { outcomeOf } from './outcome.ts';
import { isSealedSubmission, sealSubmission, type SealedSubmission } from './submission-seal.ts';
import { SubmissionRefused, type Acceptance, type RefusalCode, type Submission, type SubmissionQueue } from './submission-queue.ts';
import { manifestOf } from './tenant-manifest.ts';
import type { Tenant } from './tenant.ts';
import { withdrawJob } from './withdraw-job.ts';

export type ConsumerDeps = {
  /** What a Job may be; absent: as the flags have it by default. */
  readonly rules?: JobRules;
  /** Creates Jobs, as whoever the tenant says. */
  readonly client: ReadClient & WriteClient;
  /** Seal what is made of a submission. */
  readonly keys: RecordKeys;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: SubmissionMetrics;
};

/** Makes a Job of every submission of a tenant's queue until `signal` aborts: exactly one, however often a submission is delivered. */
export async function runConsumer(
  deps: ConsumerDeps,
  tenant: Tenant,
  queue: Pick<SubmissionQueue, 'consume'>,
  signal: AbortSignal,
): Promise<void> {
  await queue.consume(
    (submission) => accept(deps, tenant, submission),
    signal,
    (parked) => withdrawJob(deps.client, parked),
  );
}

async function accept(deps: ConsumerDeps, tenant: Tenant, submission: Submission): Promise<Acceptance> {
  const { clock, log, metrics } = deps;
  const startedAtMs = clock.now();
  try {
    const manifest = manifestOf(tenant, submission, deps.rules);
    const { job, created } = await createJob(deps, tenant, sealed(manifest, { ...submission, tenant: tenant.id }, deps.keys), submission);
    metrics.submissions.inc({ result: created ? 'created' : 'duplicate' });
    metrics.submissionDuration.observe((clock.now() - startedAtMs) / 1000);
    log.info('accepted a submission', {
      tenant: tenant.label,
      submission: submission.id,
      job: `${job.metadata.namespace}/${job.metadata.name}`,
      created,
    });
    return { job: objectKey(job), uid: job.metadata.uid, outcome: outcomeOf(job) };
  } catch (error) {
    const refused = error instanceof SubmissionRefused;
    metrics.submissions.inc({ result: refused ? 'refused' : 'failed' });
    if (refused) log.info('refused a submission', { tenant: tenant.label, submission: submission.id, detail: error.message });
    else log.warn('a submission could not be turned into a Job yet', { tenant: tenant.label, submission: submission.id, error });
    throw error;
  }
}

function sealed(manifest: JobManifest, submission: SealedSubmission, keys: RecordKeys): JobManifest {
  const { namespace = '', name = '', annotations } = manifest.metadata;
  const seal = sealSubmission(keys, { namespace, name }, submission);
  return { ...manifest, metadata: { ...manifest.metadata, annotations: { ...annotations, [SUBMISSION_SEAL_ANNOTATION]: seal } } };
}

async function createJob(
  { client, keys }: ConsumerDeps,
  { id: tenant }: Tenant,
  manifest: JobManifest,
  submission: Submission,
): Promise<{ readonly job: Job; readonly created: boolean }> {
  try {
    return { job: await client.create(JOBS, manifest, { fieldManager: MANAGER_FIELD_MANAGER }), created: true };
  } catch (error) {
    if (isAlreadyExists(error)) return { job: await earlierDelivery(client, keys, manifest, { ...submission, tenant }), created: false };
    throw isFinal(error) ? new SubmissionRefused(codeOf(error), error.message, { cause: error }) : error;
  }
}

async function earlierDelivery(client: ReadClient, keys: RecordKeys, manifest: JobManifest, submission: SealedSubmission): Promise<Job> {
  const key = { namespace: manifest.metadata.namespace ?? '', name: manifest.metadata.name ?? '' };
  const job = await client.get(JOBS, key);
  // Somebody who guessed the name may have been there first.
  if (isSealedSubmission(keys, job, submission)) return job;
  throw new SubmissionRefused(
    'Conflict',
    `metadata.name: a Job ${key.namespace}/${key.name} exists already and is not of this submission; choose another name, or use generateName`,
  );
}

/** The server has looked at the Job and said no. It would say so again: waiting does not help, a changed manifest may. */
const isFinal = (error: unknown): error is ApiError =>
  error instanceof ApiError &&
  error.code >= 400 &&
  error.code < 500 &&
  !OF_THE_MOMENT.includes(error.code) &&
  !isTerminating(error) &&
  !isOverQuota(error);

/** 403 is said of users and by policies: of who may do this, and not of how it is written. */
const codeOf = ({ code }: ApiError): RefusalCode => (code === 403 ? 'Forbidden' : 'Invalid');

/** Our credentials, time, or the number of requests were the trouble, and not the Job. */
const OF_THE_MOMENT = [401, 408, 429];

/** The namespace of a Job that is created while the namespace goes comes back or does not; only then is it final. */
const isTerminating = (error: ApiError): boolean => hasStatusCause(error, 'NamespaceTerminating');

/**
 * A ResourceQuota has no room now, or has not been counted yet. The API server says so in words only (plugin ResourceQuota). What it calls a
 * failed quota is a manifest that lacks a field, and stays final.
 */
const isOverQuota = (error: ApiError): boolean =>
  error.code === 403 && /is forbidden: (exceeded quota|status unknown for quota|insufficient quota): /.test(error.message);
