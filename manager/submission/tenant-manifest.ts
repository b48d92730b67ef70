import type { Job } from '../../shared/api/kubernetes.ts';
import { createHash } from 'node:crypto';
import {
  PRIORITY_CLASS_LABEL,
  QUEUE_NAME_LABEL,
  SHARED_TENANT,
  SUBMISSION_ANNOTATION,
  SUBMISSION_ATTEMPT_ANNOTATION,
  SUBMISSION_PAYLOAD_ANNOTATION,
  SUBMISSION_TENANT_ANNOTATION,
  SUBMITTED_AT_ANNOTATION,
  SUBMITTED_BY_ANNOTATION,
  TRACEPARENT_ANNOTATION,
} from '../../shared/api/names.ts';
import { parseTraceparent } from '../../shared/api/trace-context.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { formatProblems, type FieldProblem } from '../api/field-problem.ts';
import { DEFAULT_JOB_RULES, type JobRules } from '../api/job-rules.ts';
import { prepareJob, readJobManifest, withSwitchyardNames, type JobManifest } from '../policy/prepare-job.ts';
import { attachmentsOf, withAttachments } from './attachments.ts';
import { SubmissionRefused, type Submission } from './submission-queue.ts';
import type { MadeOf } from './submission-seal.ts';
import { isSystemNamespace, mayUseNamespace, type Tenant } from './tenant.ts';
import { parseQualifiedName, qualifiedName } from '../work-kind/qualified-name.ts';
import type { WorkKind } from '../work-kind/work-kind.ts';

/** What is to become a Job. `user`: who submitted it over HTTP. */
export type SubmittedAttempt = Submission & { readonly made: MadeOf; readonly user?: string | undefined };

/**
 * The Job, or object of another kind, to create for a submission of `tenant`, by its qualified name. Throws {@link SubmissionRefused}, with
 * every field that is wrong and what to do about it: Invalid where nobody could submit this, Forbidden where the tenant may not.
 */
export function manifestOf(
  kind: WorkKind<Job>,
  tenant: Tenant,
  submission: SubmittedAttempt,
  rules: JobRules = DEFAULT_JOB_RULES,
): JobManifest {
  if (submission.id.length > ID_LENGTH_MAX) {
    throw new SubmissionRefused(
      'Invalid',
      `the id of the submission has ${submission.id.length} characters, and at most ${ID_LENGTH_MAX} are taken; give it a shorter one`,
    );
  }
  const read = readJobManifest(kind, manifestIn(submission.data));
  if (read.kind === 'Refused') throw invalid(read.problems);
  const placed = inNamespace(tenant, read.manifest);
  const { generateName: _generateName, ...metadata } = placed.metadata;
  const prepared = prepareJob(
    kind,
    withPriorityClass(
      tenant,
      submission.priority ?? 0,
      withQueue(
        tenant,
        withSwitchyardNames({ ...placed, metadata: { ...metadata, ...identityOf(tenant, submission, placed, read.qualifier) } }, rules),
      ),
    ),
    rules,
  );
  if (prepared.kind === 'Refused') throw invalid(prepared.problems);
  const job = withAttachments(kind, prepared.job, attachmentsOf({ tenant, submission, made: submission.made }));
  const problems = kind.ruleProblems(job, rules);
  if (problems.length > 0) throw invalid(problems);
  checkQueue(tenant, job);
  return job;
}

const invalid = (problems: readonly FieldProblem[]): SubmissionRefused => new SubmissionRefused('Invalid', formatProblems(problems));

/** `{manifest}`, or the manifest itself. */
export const manifestIn = (data: unknown): unknown =>
  typeof data === 'object' && data !== null && 'manifest' in data ? data.manifest : data;

function inNamespace(tenant: Tenant, manifest: JobManifest): JobManifest {
  const { namespace = tenant.namespace } = manifest.metadata;
  if (!mayUseNamespace(tenant, namespace)) throw new SubmissionRefused('Forbidden', namespaceRefusal(tenant, namespace));
  return { ...manifest, metadata: { ...manifest.metadata, namespace } };
}

function namespaceRefusal({ id, namespaces, namespace: own }: Tenant, namespace: string): string {
  const field = `metadata.namespace: is ${JSON.stringify(namespace)}`;
  if (isSystemNamespace(namespace)) return `${field}, which is of Kubernetes itself and takes no submissions; leave it out for ${own}`;
  const allowed = namespaces === '*' ? 'any' : namespaces.join(', ');
  const administrator =
    id === SHARED_TENANT
      ? 'to name it in --submission-namespaces or to make a SubmissionQueue there'
      : 'to add it to spec.namespaces of the SubmissionQueue';
  return `${field}, and submissions of this queue go to ${allowed}; leave it out for ${own}, or ask an administrator ${administrator}`;
}

/** Name and annotations by which the Job is known as that of the submission. */
function identityOf(
  tenant: Tenant,
  submission: SubmittedAttempt,
  { metadata }: JobManifest,
  qualifier: string | undefined,
): Pick<JobManifest['metadata'], 'name' | 'annotations'> {
  const { made, user } = submission;
  return {
    name: qualifiedName(qualifier, nameFor(tenant, submission, metadata)),
    annotations: {
      ...Object.fromEntries(Object.entries(metadata.annotations ?? {}).filter(([name]) => !OURS.includes(name))),
      [SUBMISSION_ANNOTATION]: submission.id,
      [SUBMITTED_AT_ANNOTATION]: String(submission.submittedAt),
      ...omitUndefined({ [TRACEPARENT_ANNOTATION]: traceparentOf(submission, metadata), [SUBMITTED_BY_ANNOTATION]: user }),
      [SUBMISSION_PAYLOAD_ANNOTATION]: made.payload,
      [SUBMISSION_ATTEMPT_ANNOTATION]: String(made.attempt),
      ...(tenant.id === SHARED_TENANT ? {} : { [SUBMISSION_TENANT_ANNOTATION]: tenant.id }),
    },
  };
}

/** What the manifest says itself comes first. */
function traceparentOf({ traceparent }: Submission, { annotations }: JobManifest['metadata']): string | undefined {
  const said = annotations?.[TRACEPARENT_ANNOTATION];
  return parseTraceparent(said) === undefined ? (traceparent ?? said) : said;
}

/** Not for the submitter to say. */
const OURS: readonly string[] = [
  SUBMISSION_TENANT_ANNOTATION,
  SUBMISSION_PAYLOAD_ANNOTATION,
  SUBMISSION_ATTEMPT_ANNOTATION,
  SUBMITTED_BY_ANNOTATION,
];

/** A Job that names no queue goes to the tenant's first. */
const withQueue = ({ localQueues: [first] }: Tenant, job: JobManifest): JobManifest =>
  first === undefined || (job.metadata.labels?.[QUEUE_NAME_LABEL] ?? '') !== '' ? job : withLabel(job, QUEUE_NAME_LABEL, first);

function checkQueue({ localQueues }: Tenant, { metadata }: JobManifest): void {
  const queue = metadata.labels?.[QUEUE_NAME_LABEL] ?? '';
  if (localQueues.length === 0 || localQueues.includes(queue)) return;
  throw new SubmissionRefused(
    'Forbidden',
    `metadata.labels[${QUEUE_NAME_LABEL}]: is ${JSON.stringify(queue)}, and submissions of this queue may name ${localQueues.join(', ')}; name one of these, or leave the label out for ${localQueues[0]}`,
  );
}

/** BullMQ's priority says which class it is, the most urgent being 1; 0 is none. What the manifest itself names stands. */
function withPriorityClass({ priorityClasses }: Tenant, priority: number, job: JobManifest): JobManifest {
  if (priority <= 0 || job.metadata.labels?.[PRIORITY_CLASS_LABEL] !== undefined) return job;
  const rule = priorityClasses.find(({ upTo }) => priority <= upTo);
  return rule === undefined ? job : withLabel(job, PRIORITY_CLASS_LABEL, rule.name);
}

const withLabel = (job: JobManifest, name: string, value: string): JobManifest => ({
  ...job,
  metadata: { ...job.metadata, labels: { ...job.metadata.labels, [name]: value } },
});

/** It is kept with its Job. */
const ID_LENGTH_MAX = 1024;
/** Room for the dash and ten digits of a completion index, in a host name of at most 63 characters. */
const INDEX_ROOM = 11;
const DIGEST_LENGTH = 10;

/**
 * The same for every delivery of one attempt under one key, and different for any other; a name of the submitter's own is that of the first
 * attempt.
 */
function nameFor(tenant: Tenant, { key, id, submittedAt, name, made }: SubmittedAttempt, metadata: JobManifest['metadata']): string {
  const { attempt } = made;
  const own = metadata.name === undefined ? '' : parseQualifiedName(metadata.name).name;
  if (own !== '' && attempt === 1) return own;
  // The shared queue's is what it was when there was no other: a submission may be delivered again after an upgrade.
  const queue = tenant.id === SHARED_TENANT ? tenant.redis.queue : tenant.id;
  const digest = createHash('sha256')
    .update(JSON.stringify([queue, ...(key === id ? [key] : [id, submittedAt]), ...(attempt === 1 ? [] : ['attempt', attempt])]))
    .digest('hex')
    .slice(0, DIGEST_LENGTH);
  const words = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  const prefix = metadata.generateName ?? `${own !== '' ? own : words === '' ? 'job' : words}-`;
  return `${prefix.slice(0, 63 - INDEX_ROOM - DIGEST_LENGTH)}${digest}`;
}
