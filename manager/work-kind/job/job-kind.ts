import { templateIdentity } from '../../../shared/api/copy-identity.ts';
import type { DeepReadonly, Job, Unsaved, WorkObject } from '../../../shared/api/kubernetes.ts';
import { JOB_NAME_LABEL, MANAGER_CONTROLLER_NAME } from '../../../shared/api/names.ts';
import { JOBS } from '../../../shared/api/resources.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { withReferences } from '../../api/pod-references.ts';
import type { CachedForm, SingleCopyRules, SingleHomeRules, SingleKind } from '../work-kind.ts';
import { admittedPart } from './admitted-part.ts';
import { compactJob, compactProblem, needsOfJob, podFenceProblemOf, programOf, referencesOfJob } from './compact-job.ts';
import { statusByCopy } from './copy/copy-verdict.ts';
import { essentialsOfCopy } from './copy/copy-essentials.ts';
import { isAtRest, isJudgedAtRest, isResumeUnseen, isUnbegun, resumption } from './copy/copy-rest.ts';
import { droppedFields, droppedOfOlder } from './copy/dropped-fields.ts';
import { changesTemplate, hasLostController, hasOtherController, remoteJob, specChange } from './copy/remote-job.ts';
import { isWaitingToStart } from './copy/waiting-to-start.ts';
import { podSetsOf } from './job-pod-sets.ts';
import { progressOf } from './job-progress.ts';
import { podsNeeded } from './needed-pods.ts';
import { podsAtOnce } from './pod-count.ts';
import { podSelector } from './pod-selector.ts';
import { readyPodsNeeded } from './ready-pods-needed.ts';
import { ruleProblems } from './rule-problems.ts';
import { specProblems } from './spec-problems.ts';
import { counted, hasFinishedWork, seedFor } from './status-home/finished-work.ts';
import { carryOutVerdict, failedStatus, hasVerdict, toLocalStatus, withoutPods, withTerminal } from './status-home/to-local-status.ts';

const GRACE_PERIOD_SECONDS = 30;

const cache: CachedForm<Job> = {
  whole: (job: Job): Job => {
    delete job.metadata.managedFields;
    return job;
  },
  compact: compactJob,
  identity: (job: Job): Job => ({
    metadata: identityIn(job),
    spec: { ...omitUndefined({ managedBy: job.spec.managedBy }), template: {} },
  }),
  problem: compactProblem,
};

const copies: SingleCopyRules = {
  suspendedCondition: 'Suspended',
  // The worker stops its pods, and does not suspend it.
  isFenced: () => false,
  of: remoteJob,
  essentials: essentialsOfCopy,
  templateIdentity: ({ spec }) => templateIdentity(spec),
  unrelated: (job: Job): Job => ({ metadata: identityIn(job), spec: { template: { spec: { containers: [] } } } }),
  change: specChange,
  resumes: (change) => change['suspend'] === false,
  suspended: (copy: Unsaved<Job>) => ({ ...copy, spec: { ...copy.spec, suspend: true } }),
  withReferences: (copy: Unsaved<Job>, nameOf) => {
    const { template } = copy.spec;
    if (template.spec === undefined) return copy;
    return { ...copy, spec: { ...copy.spec, template: { ...template, spec: withReferences(template.spec, nameOf) } } };
  },
  changesPods: changesTemplate,
  hasOtherPods: () => false,
  hasLostController,
  hasOtherController,
  // A copy of the first generation is as it was created, even when it existed before this create.
  droppedFields: (sent: Unsaved<Job>, kept: DeepReadonly<Job>) =>
    kept.metadata.generation === 1 ? droppedFields(sent.spec, kept.spec) : droppedOfOlder(sent.spec, kept.spec),
  isAtRest: (copy: DeepReadonly<Job>) => isAtRest(copy),
  isUnbegun: (copy: DeepReadonly<Job>) => isUnbegun(copy),
  isResumeUnseen: (copy: DeepReadonly<Job>) => isResumeUnseen(copy),
  resumption: (copy: DeepReadonly<Job>) => resumption(copy),
  isJudgedAtRest: (copy: DeepReadonly<Job>) => isJudgedAtRest(copy),
  isWaitingToStart,
  believed: statusByCopy,
};

const home: SingleHomeRules = {
  hasVerdict: ({ status }: DeepReadonly<Pick<Job, 'status'>>) => hasVerdict(status),
  of: toLocalStatus,
  failed: failedStatus,
  carryOutVerdict,
  withTerminal,
  withoutPods,
  counted: (status: DeepReadonly<Job['status']>, { spec }: DeepReadonly<Job>) => counted(status, spec),
  // The uncounted pods of the worker are carried along.
  rested: (job: DeepReadonly<Job>, conditions) => {
    const { startTime: _ended, ...status } = job.status ?? {};
    return { ...job, spec: { ...job.spec, suspend: true }, status: { ...status, active: 0, terminating: 0, conditions } };
  },
  stored: (status) => ({ status }),
  isMinor: (patch) => Object.keys(patch).every((field) => field === 'uncountedTerminatedPods'),
  suspendedConditions: (time) => [
    {
      type: 'Suspended',
      status: 'True',
      reason: 'JobSuspended',
      message: 'Job suspended',
      lastProbeTime: time,
      lastTransitionTime: time,
    },
  ],
  seedFor,
  hasFinishedWork,
};

/** Kubernetes' own Jobs (batch/v1). */
export const JOB_KIND: SingleKind<Job> = {
  of: () => JOB_KIND,
  others: [],
  resource: JOBS,
  controllerOf: ({ spec }: DeepReadonly<Unsaved<Job>>) => spec.managedBy,
  isSuspended: ({ spec }: DeepReadonly<Unsaved<Job>>) => spec.suspend === true,
  prepared: <O extends Unsaved<WorkObject>>(job: O): O => ({
    ...job,
    spec: { ...job.spec, suspend: true, managedBy: MANAGER_CONTROLLER_NAME },
  }),
  preparation: ({ spec }: DeepReadonly<Unsaved<Job>>) => [
    ...(spec.suspend === true ? [] : [{ op: 'add', path: '/spec/suspend', value: true }]),
    ...(spec.managedBy === MANAGER_CONTROLLER_NAME ? [] : [{ op: 'add', path: '/spec/managedBy', value: MANAGER_CONTROLLER_NAME }]),
  ],
  suspension: (suspend) => ({ suspend }),
  fields: undefined,
  specProblems,
  ruleProblems,
  podSets: podSetsOf,
  podsAtOnce,
  podsNeeded: (job: DeepReadonly<Job>, admittedPods) => podsNeeded(job, admittedPods),
  readyPodsNeeded,
  admittedPart,
  graceSeconds: ({ spec }: DeepReadonly<Job>) => spec.template.spec?.terminationGracePeriodSeconds ?? GRACE_PERIOD_SECONDS,
  deadlineSeconds: ({ spec }: DeepReadonly<Job>) => spec.activeDeadlineSeconds ?? undefined,
  ttlSeconds: ({ spec }: DeepReadonly<Job>) => spec.ttlSecondsAfterFinished ?? undefined,
  programOf,
  podFenceProblem: podFenceProblemOf,
  references: referencesOfJob,
  needs: needsOfJob,
  podSelector,
  progress: progressOf,
  podsOf: ({ name }) => `${JOB_NAME_LABEL}=${name}`,
  fence: 'Always',
  cache,
  copies,
  home,
};

function identityIn({ metadata }: Job): Job['metadata'] {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadata;
  return { name, namespace, uid, resourceVersion, creationTimestamp };
}
