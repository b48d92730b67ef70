import { createHash } from 'node:crypto';
import type { Job } from '../../shared/api/kubernetes.ts';
import {
  MANAGER_FIELD_MANAGER,
  SUBMISSION_ANNOTATION,
  SUBMISSION_SEAL_ANNOTATION,
  SUBMITTED_AT_ANNOTATION,
} from '../../shared/api/names.ts';
import { JOBS } from '../../shared/api/resources.ts';
import { ApiError, hasStatusCause, isAlreadyExists } from '../../shared/kube/api-error.ts';
import type { ReadClient, WriteClient } from '../../shared/kube/client.ts';
import { objectKey } from '../../shared/kube/keys.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { SubmissionMetrics } from '../metrics.ts';
import { formatProblems } from '../api/field-problem.ts';
import { DEFAULT_JOB_RULES, ruleProblems, type JobRules } from '../api/job-rules.ts';
import { prepareJob, readJobManifest, type JobManifest } from '../prepare-job.ts';
import type { RecordKeys } from '../api/record-seal.ts';
import { outcomeOf } from './outcome.ts';
import { isSealedSubmission, sealSubmission } from './submission-seal.ts';
import { SubmissionRefused, type Acceptance, type Submission, type SubmissionQueue } from './submission-queue.ts';

export type ConsumerDeps = {
  readonly queue: SubmissionQueue;
  /** Name of the queue: part of what makes a generated Job name unique. */
  readonly queueName: string;
  /** What a Job may be; absent: as the flags have it by default. */
  readonly rules?: JobRules;
  readonly client: ReadClient & WriteClient;
  /** Seal what is made of a submission. */
  readonly keys: RecordKeys;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: SubmissionMetrics;
};

/** Makes a Job of every submission until `signal` aborts: exactly one, however often a submission is delivered. */
export async function runConsumer(deps: ConsumerDeps, signal: AbortSignal): Promise<void> {
  await deps.queue.consume((submission) => accept(deps, submission), signal);
}

async function accept(deps: ConsumerDeps, submission: Submission): Promise<Acceptance> {
  const { clock, log, metrics } = deps;
  const startedAtMs = clock.now();
  try {
    const manifest = manifestOf(submission, deps.queueName, deps.rules);
    const { job, created } = await createJob(deps, sealed(manifest, submission, deps.keys), submission);
    metrics.submissions.inc({ result: created ? 'created' : 'duplicate' });
    metrics.submissionDuration.observe((clock.now() - startedAtMs) / 1000);
    log.info('accepted a submission', { submission: submission.id, job: `${job.metadata.namespace}/${job.metadata.name}`, created });
    return { job: objectKey(job), uid: job.metadata.uid, outcome: outcomeOf(job) };
  } catch (error) {
    const refused = error instanceof SubmissionRefused;
    metrics.submissions.inc({ result: refused ? 'refused' : 'failed' });
    if (refused) log.info('refused a submission', { submission: submission.id, detail: error.message });
    else log.warn('a submission could not be turned into a Job yet', { submission: submission.id, error });
    throw error;
  }
}

/** The Job to create for a submission. Throws {@link SubmissionRefused} naming every field that is wrong. */
export function manifestOf(submission: Submission, queueName: string, rules: JobRules = DEFAULT_JOB_RULES): JobManifest {
  if (submission.id.length > ID_LENGTH_MAX) {
    throw new SubmissionRefused(`the id of the submission has ${submission.id.length} characters, and at most ${ID_LENGTH_MAX} are taken`);
  }
  const read = readJobManifest(manifestIn(submission.data));
  if (read.kind === 'Refused') throw new SubmissionRefused(formatProblems(read.problems));
  const { generateName, ...metadata } = read.manifest.metadata;
  const manifest: JobManifest = {
    ...read.manifest,
    metadata: {
      ...metadata,
      namespace: metadata.namespace ?? 'default',
      name: metadata.name ?? nameFor(submission, generateName, queueName),
      annotations: {
        ...metadata.annotations,
        [SUBMISSION_ANNOTATION]: submission.id,
        [SUBMITTED_AT_ANNOTATION]: String(submission.submittedAt),
      },
    },
  };
  const prepared = prepareJob(manifest, rules);
  const problems = prepared.kind === 'Refused' ? prepared.problems : ruleProblems(prepared.job, rules);
  if (prepared.kind === 'Refused' || problems.length > 0) throw new SubmissionRefused(formatProblems(problems));
  return prepared.job;
}

function sealed(manifest: JobManifest, submission: Submission, keys: RecordKeys): JobManifest {
  const { namespace = '', name = '', annotations } = manifest.metadata;
  const seal = sealSubmission(keys, { namespace, name }, submission);
  return { ...manifest, metadata: { ...manifest.metadata, annotations: { ...annotations, [SUBMISSION_SEAL_ANNOTATION]: seal } } };
}

/** `{manifest}`, or the manifest itself. */
function manifestIn(data: unknown): unknown {
  return typeof data === 'object' && data !== null && 'manifest' in data ? data.manifest : data;
}

/** It is kept with its Job. */
const ID_LENGTH_MAX = 1024;
/** Room for the dash and ten digits of a completion index, in a host name of at most 63 characters. */
const INDEX_ROOM = 11;
const DIGEST_LENGTH = 10;

/** The same for every delivery of one submission, and different for any other. */
function nameFor({ id, submittedAt, name }: Submission, generateName: string | undefined, queueName: string): string {
  const digest = createHash('sha256')
    .update(JSON.stringify([queueName, id, submittedAt]))
    .digest('hex')
    .slice(0, DIGEST_LENGTH);
  const words = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  const prefix = generateName ?? `${words === '' ? 'job' : words}-`;
  return `${prefix.slice(0, 63 - INDEX_ROOM - DIGEST_LENGTH)}${digest}`;
}

async function createJob(
  { client, keys }: ConsumerDeps,
  manifest: JobManifest,
  submission: Submission,
): Promise<{ readonly job: Job; readonly created: boolean }> {
  try {
    return { job: await client.create(JOBS, manifest, { fieldManager: MANAGER_FIELD_MANAGER }), created: true };
  } catch (error) {
    if (isAlreadyExists(error)) return { job: await earlierDelivery(client, keys, manifest, submission), created: false };
    throw isFinal(error) ? new SubmissionRefused(error.message, { cause: error }) : error;
  }
}

async function earlierDelivery(client: ReadClient, keys: RecordKeys, manifest: JobManifest, { id, submittedAt }: Submission): Promise<Job> {
  const key = { namespace: manifest.metadata.namespace ?? '', name: manifest.metadata.name ?? '' };
  const job = await client.get(JOBS, key);
  // Somebody who guessed the name may have been there first.
  if (isSealedSubmission(keys, job, { id, submittedAt })) return job;
  throw new SubmissionRefused(
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
