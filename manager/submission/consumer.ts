import type { DeepReadonly, Job, ObjectKey } from '../../shared/api/kubernetes.ts';
import { ACTS_ANNOTATION, MANAGER_FIELD_MANAGER, SUBMISSION_FINALIZER, SUBMISSION_SEAL_ANNOTATION } from '../../shared/api/names.ts';
import { FinalCode } from '../../shared/api/submission-codes.ts';
import { isAlreadyExists, isConflict, isNotFound } from '../../shared/kube/api-error.ts';
import type { ReadClient, WriteClient } from '../../shared/kube/client.ts';
import type { Informer } from '../../shared/kube/informer.ts';
import { formatKey, objectKey } from '../../shared/kube/keys.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { SubmissionMetrics } from './submission-metrics.ts';
import { actsOn, withAct } from '../api/job-acts.ts';
import type { JobRules } from '../api/job-rules.ts';
import type { JobManifest } from '../policy/prepare-job.ts';
import type { RecordKeys } from '../api/record-seal.ts';
import { created, ended, entryOfParked, intendedEntry, judge, refused, type Delivery, type LedgerEntry } from './ledger.ts';
import type { SubmissionLedger } from './ledger-store.ts';
import { deletedOutcome, isCancelled, isJobOf, outcomeOf, submissionOf } from './outcome.ts';
import { shortPayloadHash } from './ledger-hash.ts';
import { sealSubmission, type MadeOf, type SealedSubmission } from './submission-seal.ts';
import {
  SubmissionRefused,
  type Acceptance,
  type Outcome,
  type ParkedSubmission,
  type Submission,
  type SubmissionRef,
  type SubmissionQueue,
} from './submission-queue.ts';
import { attachmentsOf, type NamedAttachment } from './attachments.ts';
import { callerOf, cancellerOf } from './caller-signature.ts';
import { codeOf, isFinal } from './final-answer.ts';
import { checkAttachments, makeAttachments } from './make-attachments.ts';
import { isNamed, isParked } from './parked-record.ts';
import { manifestOf } from './tenant-manifest.ts';
import type { Tenant } from './tenant.ts';
import type { WithdrawnJobs } from './withdrawn-jobs.ts';
import { formatWork } from '../work-kind/qualified-name.ts';
import type { WorkKind } from '../work-kind/work-kind.ts';

export type ConsumerDeps = {
  readonly kind: WorkKind<Job>;
  /** What a Job may be; absent: as the flags have it by default. */
  readonly rules?: JobRules;
  /** Creates Jobs and their ConfigMaps, as the account of the tenant. */
  readonly client: ReadClient & WriteClient;
  /** Writes on Jobs what the manager alone may, as the manager. */
  readonly home: Pick<WriteClient, 'patch'>;
  readonly jobs: Pick<Informer<Job>, 'get'>;
  /** Where Jobs may take ConfigMaps along; absent: nowhere. */
  readonly carryNamespaces?: readonly string[];
  /** What became of every submission. */
  readonly ledger: SubmissionLedger;
  /** Deletes the Jobs of submissions that nobody wants any more. */
  readonly withdrawnJobs: Pick<WithdrawnJobs, 'withdraw'>;
  /** Seal what is made of a submission. */
  readonly keys: RecordKeys;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: SubmissionMetrics;
};

/**
 * Makes Jobs of the submissions of a tenant's queue until `signal` aborts: one for each attempt under a key, however often it is delivered,
 * and whatever Redis has forgotten. The intent is written before a Job is made, and that Job has a name that follows from tenant, key and
 * attempt.
 */
export async function runConsumer(
  deps: ConsumerDeps,
  tenant: Tenant,
  queue: Pick<SubmissionQueue, 'consume'>,
  signal: AbortSignal,
): Promise<void> {
  await queue.consume(
    (submission) => accept(deps, tenant, submission),
    signal,
    async (of, signature) => {
      const parked = of.uid === undefined ? await unparked(deps, tenant, of.ref) : of;
      if (parked !== undefined) await withdraw(deps, tenant, parked, signature);
    },
  );
}

async function accept(deps: ConsumerDeps, tenant: Tenant, submission: Submission): Promise<Acceptance> {
  const { clock, log, metrics } = deps;
  const startedAtMs = clock.now();
  const about = { tenant: tenant.label, submission: submission.id };
  try {
    const { entry, isNew } = await settled(deps, tenant, submission);
    metrics.submissions.inc({ result: isNew ? 'created' : 'duplicate' });
    metrics.submissionDuration.observe((clock.now() - startedAtMs) / 1000);
    log.info('accepted a submission', { ...about, job: formatKey(entry.job), attempt: entry.attempt, created: isNew });
    const { job, uid, attempt } = entry;
    return { job, uid, attempt, outcome: entry.state === 'Ended' ? entry.outcome : undefined };
  } catch (error) {
    const isRefusal = error instanceof SubmissionRefused;
    metrics.submissions.inc({ result: isRefusal ? 'refused' : 'failed' });
    if (isRefusal) log.info('refused a submission', { ...about, detail: error.message });
    else log.warn('a submission could not be turned into a Job yet', { ...about, error });
    throw error;
  }
}

/**
 * Nobody wants the submission any more. That is written first, so that it does not come back, and so that its Job goes whenever this
 * manager ends. What the ledger has of the submission is withdrawn; what it has forgotten is the Job for which the submission is parked,
 * where the seal says so. Before that the Job says which user cancelled it over HTTP: history is written of what is deleted.
 */
async function withdraw(deps: ConsumerDeps, tenant: Tenant, parked: ParkedSubmission, signature: unknown): Promise<void> {
  const { kind, clock, keys, log, jobs, withdrawnJobs } = deps;
  const { key, submittedAt } = parked.ref;
  const ledger = deps.ledger.of(tenant.id);
  if (!hasEnded(ledger.get(key), parked)) {
    const job = await parkedJob(deps, parked);
    if (job !== undefined && !isJobOf(keys, job, { tenant: tenant.id, key })) {
      log.warn('a Job is not withdrawn: it was not made of this submission', { tenant: tenant.label, submission: key });
      return;
    }
    const user = cancellerOf(keys, { tenant: tenant.id, key, submittedAt }, signature);
    if (job !== undefined && user !== undefined) await noteCancel(deps, job, user);
    const payload = job && submissionOf(job)?.made.payload;
    const forgotten = payload && entryOfParked(ledger.get(key), { parked, payload, submittedAt, attemptsMade: 0 }, clock.now());
    if (forgotten) ledger.adopt(key, forgotten);
    const message = `the submission was cancelled, and its ${formatWork(kind, parked.job)} is deleted`;
    const outcome: Outcome = { kind: 'Failed', failure: { reason: FinalCode.Cancelled, message } };
    ledger.mark(key, ended(parked, outcome, clock.now()));
  }
  await ledger.written(key);
  const entry = ledger.get(key);
  if (!hasEnded(entry, parked) || !isCancelled(entry.outcome)) return;
  // One that is not in the cache yet is withdrawn when it comes.
  if (jobs.get(entry.job)?.metadata.uid === entry.uid) withdrawnJobs.withdraw({ tenant: tenant.id, job: entry.job, uid: entry.uid });
}

/** The Job that the ledger says a submission has got, or may have got, as if the submission were parked for it. */
async function unparked(deps: ConsumerDeps, tenant: Tenant, ref: SubmissionRef): Promise<ParkedSubmission | undefined> {
  const entry = deps.ledger.of(tenant.id).get(ref.key);
  if (entry?.state !== 'Intended' && entry?.state !== 'Created') return undefined;
  const job = deps.jobs.get(entry.job) ?? (await found(deps, entry.job));
  if (job === undefined || !isJobOf(deps.keys, job, { tenant: tenant.id, key: ref.key })) return undefined;
  return { ref, job: entry.job, uid: job.metadata.uid, attempt: entry.attempt };
}

/** Once: a cancellation may be repeated. */
async function noteCancel({ kind, home, clock }: ConsumerDeps, job: DeepReadonly<Job>, user: string): Promise<void> {
  if (actsOn(job).some((act) => act.what === 'Cancel' && act.user === user)) return;
  const annotations = { [ACTS_ANNOTATION]: withAct(job, { what: 'Cancel', user }, clock.now()) };
  const patch = { type: 'merge', body: { metadata: { uid: job.metadata.uid, annotations } } } as const;
  await home.patch(kind.resource, objectKey(job), patch, { fieldManager: MANAGER_FIELD_MANAGER }).catch((error: unknown) => {
    // It goes, or is another one by now.
    if (!isNotFound(error) && !isConflict(error)) throw error;
  });
}

const hasEnded = (entry: LedgerEntry | undefined, { uid }: ParkedSubmission): entry is LedgerEntry & { readonly state: 'Ended' } =>
  entry?.state === 'Ended' && entry.uid === uid;

/**
 * The Job for which a submission is parked as the cluster has it; undefined where it is gone, or Redis names none. What it is, its seal
 * says.
 */
async function parkedJob(deps: ConsumerDeps, { job: key, uid }: ParkedSubmission): Promise<DeepReadonly<Job> | undefined> {
  if (!isNamed(key) || typeof uid !== 'string' || uid === '') return undefined;
  const cached = deps.jobs.get(key);
  if (cached?.metadata.uid === uid) return cached;
  const job = await found(deps, key);
  return job?.metadata.uid === uid ? job : undefined;
}

/** As the API server has it: it may be too new for the cache. */
const found = ({ kind, client }: ConsumerDeps, key: ObjectKey): Promise<Job | undefined> =>
  client.get(kind.resource, key).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    throw error;
  });

type MadeEntry = LedgerEntry & { readonly state: 'Created' | 'Ended' };
type Settled = { readonly entry: MadeEntry; readonly isNew: boolean };

/** Until there is a Job, or an outcome. What is found out on the way is written, and then judged anew. */
async function settled(deps: ConsumerDeps, tenant: Tenant, submission: Submission): Promise<Settled> {
  const { clock } = deps;
  const { key } = submission;
  const ledger = deps.ledger.of(tenant.id);
  const delivery = { ...submission, payload: shortPayloadHash(submission.data) };
  let isNew = false;
  for (;;) {
    const parked = (await isOfOther(deps, tenant, submission)) ? undefined : entryOfParked(ledger.get(key), delivery, clock.now());
    // Written without haste: it can be found out again.
    if (parked !== undefined) ledger.adopt(key, parked);
    const judgment = judge(ledger.get(key), delivery);
    switch (judgment.kind) {
      case 'Conflict':
        throw conflict(deps.kind, judgment.entry);
      case 'Ended':
        return { entry: judgment.entry, isNew };
      case 'Created': {
        const outcome = isNew ? undefined : await outcomeOfMade(deps, judgment.entry);
        if (outcome === undefined) return { entry: judgment.entry, isNew };
        ledger.mark(key, ended(judgment.entry, outcome, clock.now()));
        break;
      }
      case 'New':
      case 'Again':
        isNew = await make(deps, tenant, submission, delivery, judgment.kind === 'New' ? judgment.attempt : judgment.entry);
    }
  }
}

/** Whether it is parked, by what Redis says, for a Job that was not made of it. */
async function isOfOther(deps: ConsumerDeps, tenant: Tenant, { key, parked }: Submission): Promise<boolean> {
  if (parked === undefined) return false;
  const job = await parkedJob(deps, parked);
  return job === undefined ? !isParked(parked) : !isJobOf(deps.keys, job, { tenant: tenant.id, key });
}

const conflict = (kind: WorkKind, { job }: LedgerEntry): SubmissionRefused =>
  new SubmissionRefused(
    'Conflict',
    `the key of the submission was used for another payload, of which the ${formatWork(kind, job)} was made; its result stands. Give this one another key`,
  );

/** Undefined while the Job is there and has not ended. */
async function outcomeOfMade(deps: ConsumerDeps, { job: key, uid }: MadeEntry): Promise<Outcome | undefined> {
  const { kind } = deps;
  const cached = deps.jobs.get(key);
  if (cached?.metadata.uid === uid) return outcomeOf(kind, cached);
  const job = await found(deps, key);
  return job?.metadata.uid === uid ? outcomeOf(kind, job) : deletedOutcome(formatWork(kind, key));
}

/**
 * Writes the intent and makes the Job, or finds it made; true when it was made now. `begun`: the attempt, or the entry of it whose intent
 * may be written.
 */
async function make(
  deps: ConsumerDeps,
  tenant: Tenant,
  submission: Submission,
  delivery: Delivery,
  begun: number | LedgerEntry,
): Promise<boolean> {
  const { kind, clock, rules, keys } = deps;
  const { key } = submission;
  const ledger = deps.ledger.of(tenant.id);
  const attempt = typeof begun === 'number' ? begun : begun.attempt;
  const made: MadeOf = { payload: delivery.payload, attempt };
  const intended = typeof begun === 'number' ? undefined : begun.job;
  const sealedAs = { ...submission, tenant: tenant.id, made };
  const attachments = attachmentsOf({ tenant, submission, made });
  // 1. Under the name of the intent it may be there already, also where it would have another name by now, or would not be taken any more.
  const there = intended && deps.jobs.get(intended);
  if (there !== undefined && isOf(there, sealedAs, keys)) {
    await complete(deps, tenant, submission, attempt, there, attachments);
    return false;
  }
  // 2. The intent, once the server lets its ConfigMaps be made.
  const user = callerOf(keys, { tenant: tenant.id, key, data: submission.data });
  const manifest = sealed(manifestOf(kind, tenant, { ...submission, made, user }, rules), sealedAs, keys);
  const name = { namespace: manifest.metadata.namespace ?? '', name: manifest.metadata.name ?? '' };
  const isSame = intended !== undefined && formatKey(intended) === formatKey(name);
  if (intended === undefined) await checkAttachments(deps, tenant, manifest, attachments);
  await (isSame ? ledger.written(key) : ledger.put(key, intendedEntry(delivery, attempt, name, clock.now())));
  // 3. The Job, then what it takes along.
  try {
    const { job, isNew } = await createJob(deps, manifest, sealedAs);
    await complete(deps, tenant, submission, attempt, job, attachments);
    return isNew;
  } catch (error) {
    if (error instanceof SubmissionRefused) ledger.mark(key, refused(attempt, clock.now()));
    throw error;
  }
}

/**
 * Makes the ConfigMaps of a Job that is there, and notes then that it was made: until that is noted they are looked for at each delivery. A
 * Job of which one can never be made goes again; that is written first.
 */
async function complete(
  deps: ConsumerDeps,
  tenant: Tenant,
  { key }: Submission,
  attempt: number,
  job: DeepReadonly<Job>,
  attachments: readonly NamedAttachment[],
): Promise<void> {
  const { clock, withdrawnJobs } = deps;
  const { uid } = job.metadata;
  const ledger = deps.ledger.of(tenant.id);
  const problem = await makeAttachments(deps, tenant, job, attachments);
  if (problem === undefined) return ledger.mark(key, created(attempt, objectKey(job), uid, clock.now()));
  const outcome: Outcome = { kind: 'Failed', failure: { reason: FinalCode.Rejected, message: problem } };
  ledger.mark(key, ended({ uid, attempt }, outcome, clock.now()));
  await ledger.written(key);
  withdrawnJobs.withdraw({ tenant: tenant.id, job: objectKey(job), uid });
  throw new SubmissionRefused('Rejected', problem);
}

function sealed(manifest: JobManifest, submission: SealedSubmission, keys: RecordKeys): JobManifest {
  const { namespace = '', name = '', annotations, finalizers = [] } = manifest.metadata;
  const seal = sealSubmission(keys, { namespace, name }, submission);
  const ours = { annotations: { ...annotations, [SUBMISSION_SEAL_ANNOTATION]: seal }, finalizers: [...finalizers, SUBMISSION_FINALIZER] };
  return { ...manifest, metadata: { ...manifest.metadata, ...ours } };
}

async function createJob(
  { kind, client, keys }: ConsumerDeps,
  manifest: JobManifest,
  submission: SealedSubmission,
): Promise<{ readonly job: Job; readonly isNew: boolean }> {
  try {
    return { job: await client.create(kind.resource, manifest, { fieldManager: MANAGER_FIELD_MANAGER }), isNew: true };
  } catch (error) {
    if (isAlreadyExists(error)) return { job: await earlierDelivery(kind, client, keys, manifest, submission), isNew: false };
    throw isFinal(error) ? new SubmissionRefused(codeOf(error), error.message, { cause: error }) : error;
  }
}

async function earlierDelivery(
  kind: WorkKind<Job>,
  client: ReadClient,
  keys: RecordKeys,
  manifest: JobManifest,
  submission: SealedSubmission,
): Promise<Job> {
  const key = { namespace: manifest.metadata.namespace ?? '', name: manifest.metadata.name ?? '' };
  const job = await client.get(kind.resource, key);
  // Somebody who guessed the name may have been there first.
  if (isOf(job, submission, keys)) return job;
  throw new SubmissionRefused(
    'Conflict',
    `metadata.name: a ${formatWork(kind, key)} exists already and is not of this submission; choose another name, or use generateName`,
  );
}

/** Whether the manager made this Job of this key, payload and attempt, also where that was put on the queue at another time. */
function isOf(job: DeepReadonly<Job>, { tenant, key, made }: SealedSubmission, keys: RecordKeys): boolean {
  if (!isJobOf(keys, job, { tenant, key })) return false;
  const of = submissionOf(job);
  return of?.made.payload === made.payload && of.made.attempt === made.attempt;
}
