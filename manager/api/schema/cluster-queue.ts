import { Type } from 'typebox';
import { FairSharing, FairSharingStatus } from './fair-sharing.ts';
import { AGE_COLUMN, type KindSchema } from '../kind-definition.ts';
import { LENDS_AT_MOST_NOMINAL, limitsOnlyBelow, ResourceGroups } from '../quota.ts';
import {
  Carry,
  CarryContent,
  Conditions,
  Duration,
  LabelSelectorSchema,
  ObjectName,
  OneOf,
  QualifiedName,
  Quantity,
  ResourceList,
  StopPolicy,
  withRules,
} from '../schema-parts.ts';

const FlavorFungibilitySchema = Type.Object(
  {
    whenCanBorrow: Type.Optional(
      OneOf(['MayStopSearch', 'TryNextFlavor', 'Borrow'], {
        default: 'MayStopSearch',
        description:
          'Whether a Job takes a flavor in which it has to borrow (MayStopSearch, formerly Borrow), or a later one in which it does not (TryNextFlavor).',
      }),
    ),
    whenCanPreempt: Type.Optional(
      OneOf(['MayStopSearch', 'TryNextFlavor', 'Preempt'], {
        default: 'TryNextFlavor',
        description:
          'Whether a Job takes a flavor in which it has to preempt (MayStopSearch, formerly Preempt), or a later one in which it does not (TryNextFlavor).',
      }),
    ),
    preference: Type.Optional(
      OneOf(['BorrowingOverPreemption', 'PreemptionOverBorrowing'], {
        description:
          'Which flavor a Job takes if it has to borrow or to preempt in each: BorrowingOverPreemption (the default) avoids preempting, PreemptionOverBorrowing avoids borrowing.',
      }),
    ),
  },
  {
    description: 'When the search for a flavor goes on although one has been found.',
    ...withRules({
      rule: "!has(self.preference) || (self.whenCanBorrow == 'TryNextFlavor' && self.whenCanPreempt == 'TryNextFlavor')",
      message: 'preference is for queues whose whenCanBorrow and whenCanPreempt are both TryNextFlavor; set them, or leave it out',
    }),
  },
);

const BorrowWithinCohortSchema = Type.Object(
  {
    policy: Type.Optional(
      OneOf(['Never', 'LowerPriority'], {
        default: 'Never',
        description:
          'Whether Jobs of other queues that borrow may be preempted although the Job itself would borrow: never, or those of lower priority.',
      }),
    ),
    maxPriorityThreshold: Type.Optional(
      Type.Integer({
        minimum: -2_147_483_648,
        maximum: 2_147_483_647,
        format: 'int32',
        description: 'Of these only Jobs up to this priority; of all priorities that are lower when absent.',
      }),
    ),
  },
  { description: 'What a Job may preempt in other queues of the cohort if it borrows itself.' },
);

const PreemptionSchema = Type.Object(
  {
    withinClusterQueue: Type.Optional(
      OneOf(['Never', 'LowerPriority', 'LowerOrNewerEqualPriority'], {
        default: 'Never',
        description: 'Which Jobs of the same queue may be preempted: none, those of lower priority, or also newer ones of equal priority.',
      }),
    ),
    reclaimWithinCohort: Type.Optional(
      OneOf(['Never', 'LowerPriority', 'Any'], {
        default: 'Never',
        description:
          'Which Jobs of borrowing queues may be preempted for one that fits the nominal quota of its queue: none, those of lower priority, or any.',
      }),
    ),
    borrowWithinCohort: Type.Optional(BorrowWithinCohortSchema),
  },
  {
    description: 'Which Jobs are evicted for the sake of one that waits.',
    ...withRules({
      rule: "!has(self.borrowWithinCohort) || self.borrowWithinCohort.policy == 'Never' || self.reclaimWithinCohort != 'Never'",
      message:
        'borrowWithinCohort is a part of reclaimWithinCohort, which is Never; let that be LowerPriority or Any, or leave borrowWithinCohort out',
    }),
  },
);

const AdmissionScopeSchema = Type.Object(
  {
    admissionMode: OneOf(['UsageBasedAdmissionFairSharing', 'NoAdmissionFairSharing'], {
      description:
        'UsageBasedAdmissionFairSharing admits Jobs of the LocalQueue first that has used least for its weight, with --admission-fair-sharing-half-life of the manager.',
    }),
  },
  { description: 'How the LocalQueues of this ClusterQueue share it.' },
);

const AdmissionCheckRuleSchema = Type.Object({
  name: ObjectName('Name of the check: the type of the condition by which its controller tells a Job.'),
  onFlavors: Type.Optional(
    Type.Array(ObjectName('Name of a ResourceFlavor.'), {
      maxItems: 64,
      'x-kubernetes-list-type': 'set',
      description: 'The check is for Jobs that use one of these flavors; empty: for all.',
    }),
  ),
});

const ResourceTransformationSchema = Type.Object(
  {
    input: QualifiedName('The resource that pods request.'),
    strategy: Type.Optional(
      OneOf(['Retain', 'Replace'], {
        default: 'Retain',
        description: 'Retain charges the outputs beside the input, Replace in its place.',
      }),
    ),
    multiplyBy: Type.Optional(
      QualifiedName('The amount of this resource that a pod requests multiplies the outputs. Without effect on pods that request none.'),
    ),
    outputs: Type.Optional(
      ResourceList(
        'What is charged for each unit of the input, by resource. A negative amount is an allowance against what other inputs are charged for.',
      ),
    ),
  },
  withRules({
    rule: "self.input != 'pods' && (!has(self.multiplyBy) || self.multiplyBy != 'pods') && (!has(self.outputs) || !('pods' in self.outputs))",
    message: 'pods are counted, not requested, and cannot be transformed; name another resource',
  }),
);

export const ClusterQueueSpecSchema = Type.Object(
  {
    resourceGroups: Type.Optional(ResourceGroups),
    cohortName: Type.Optional(ObjectName('Cohort whose members lend each other idle quota; it need not exist as an object.')),
    queueingStrategy: Type.Optional(
      OneOf(['BestEffortFIFO', 'StrictFIFO', 'Backfill'], {
        default: 'BestEffortFIFO',
        description:
          'StrictFIFO lets a Job that does not fit block all Jobs behind it; BestEffortFIFO lets smaller ones pass; Backfill reserves room from an expected start, and lets Jobs pass that are expected to end before it.',
      }),
    ),
    placement: Type.Optional(
      OneOf(['LeastRoom', 'MostRoom'], {
        description:
          'Which of the clusters with room a Job goes to: LeastRoom fills one after the other, MostRoom spreads Jobs. Absent: --default-placement of the manager.',
      }),
    ),
    quotaCheckStrategy: Type.Optional(
      OneOf(['BlockUndeclared', 'IgnoreUndeclared'], {
        default: 'BlockUndeclared',
        description:
          'BlockUndeclared lets a Job wait that requests a resource without quota here; IgnoreUndeclared does not check such resources. Room on clusters counts in either case.',
      }),
    ),
    excludeResourcePrefixes: Type.Optional(
      Type.Array(Type.String({ minLength: 1, maxLength: 317 }), {
        maxItems: 64,
        'x-kubernetes-list-type': 'set',
        description: 'Resources whose names begin with one of these are not charged to this queue, whether it has quota for them or not.',
      }),
    ),
    resourceTransformations: Type.Optional(
      Type.Array(ResourceTransformationSchema, {
        maxItems: 64,
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['input'],
        description:
          'What this queue charges in place of what pods request, such as credits for a slice of a device. Room on clusters is not transformed.',
      }),
    ),
    flavorFungibility: Type.Optional(FlavorFungibilitySchema),
    preemption: Type.Optional(PreemptionSchema),
    namespaceSelector: Type.Optional(
      LabelSelectorSchema('Namespaces whose Jobs are admitted: no namespace when absent, every namespace when empty ({}).'),
    ),
    stopPolicy: Type.Optional(StopPolicy),
    fairSharing: Type.Optional(FairSharing('How idle quota of the cohort is shared, where the manager runs with --fair-sharing.')),
    admissionScope: Type.Optional(AdmissionScopeSchema),
    fencing: Type.Optional(
      OneOf(['Enabled', 'Disabled'], {
        default: 'Enabled',
        description: 'Whether a worker that no longer hears of the manager stops the pods of these Jobs, so that they can run elsewhere.',
      }),
    ),
    podFence: Type.Optional(
      OneOf(['Enabled', 'Disabled'], {
        default: 'Disabled',
        description:
          'Whether pods end by themselves when they are not renewed, also while the control plane of their cluster is away. Jobs whose pods cannot have a pod fence run without.',
      }),
    ),
    carry: Type.Optional(
      Carry('The objects that Jobs take to their worker cluster, where neither Job nor LocalQueue says otherwise. Absent: none.'),
    ),
    carryContent: Type.Optional(
      CarryContent(
        'Which content a Job takes along when it moves: Current, or Admitted, that of its first copy; while it differs, the Job waits (ContentChanged). Absent: Current.',
      ),
    ),
    startTimeout: Type.Optional(
      Duration(
        '10m',
        'How long a placement may take until the pods that the Job needs are ready, before it goes elsewhere; 0s: for ever. A Job whose completions do not exceed its parallelism needs all, any other one pod. Annotations switchyard.dev/min-ready-pods and start-timeout override it.',
      ),
    ),
    recoveryTimeout: Type.Optional(
      Duration(
        '0s',
        'How long a started Job may have too few ready pods before it queues again; 0s: for ever. Annotation switchyard.dev/recovery-timeout overrides it.',
      ),
    ),
    blockAdmission: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Whether no further Job is admitted until all pods that the last one needs are ready. startTimeout and recoveryTimeout bound the wait; 0s: for ever.',
      }),
    ),
    maxMoves: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1000,
        default: 5,
        format: 'int32',
        description: 'After so many placements in a row that came to nothing a Job has the condition CannotStart.',
      }),
    ),
    onCannotStart: Type.Optional(
      OneOf(['Wait', 'Fail'], {
        default: 'Wait',
        description: 'Wait keeps trying such a Job; Fail ends it as Failed.',
      }),
    ),
    admissionChecksStrategy: Type.Optional(
      Type.Object(
        {
          admissionChecks: Type.Array(AdmissionCheckRuleSchema, {
            minItems: 1,
            maxItems: 64,
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['name'],
            description: 'The checks.',
          }),
        },
        { description: 'Checks of other controllers that a Job has to pass, once quota is reserved for it, before it is admitted.' },
      ),
    ),
    admissionChecksTimeout: Type.Optional(
      Duration('0s', 'How long quota stays reserved for a Job whose checks are not all ready, before it queues again; 0s: for ever.'),
    ),
    reclaimablePods: Type.Optional(
      OneOf(['Reclaim', 'Keep'], {
        default: 'Reclaim',
        description: 'Reclaim gives quota of pods that a Job will not need again to others; Keep leaves it with the Job.',
      }),
    ),
    onClusterLost: Type.Optional(
      OneOf(['Requeue', 'RequeueFenced', 'Wait', 'Fail'], {
        default: 'Requeue',
        description:
          'For a Job whose cluster is lost, once its worker must have stopped it: Requeue runs it elsewhere, although pods run on where the control plane is away; RequeueFenced does so only if its pods have a pod fence; Wait leaves it until the cluster is back or given up; Fail ends it as Failed.',
      }),
    ),
  },
  withRules(...limitsOnlyBelow('cohortName'), ...LENDS_AT_MOST_NOMINAL),
);

export const FlavorUsageSchema = Type.Object({
  name: Type.String({ description: 'Name of the ResourceFlavor.' }),
  resources: Type.Array(
    Type.Object({
      name: Type.String({ description: 'Name of the resource.' }),
      total: Quantity('Quota in use, borrowed quota included.'),
      borrowed: Type.Optional(Quantity('How much of the total is more than nominal.')),
    }),
    {
      maxItems: 64,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      description: 'What is in use of each resource.',
    },
  ),
});

export const ClusterQueueStatusSchema = Type.Object({
  conditions: Type.Optional(Conditions),
  pendingWorkloads: Type.Optional(Type.Integer({ minimum: 0, format: 'int32', description: 'Jobs that wait for admission.' })),
  admittedWorkloads: Type.Optional(Type.Integer({ minimum: 0, format: 'int32', description: 'Jobs that are admitted and not finished.' })),
  flavorsUsage: Type.Optional(
    Type.Array(FlavorUsageSchema, {
      maxItems: 256,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
      description: 'Quota in use by admitted Jobs.',
    }),
  ),
  fairSharing: Type.Optional(FairSharingStatus),
});

export const CLUSTER_QUEUE_SCHEMA: KindSchema = {
  singular: 'clusterqueue',
  shortNames: ['cq'],
  description: 'ClusterQueue is a pool of quota from which Jobs are admitted.',
  fields: { spec: ClusterQueueSpecSchema, status: ClusterQueueStatusSchema },
  required: ['spec'],
  printerColumns: [
    { name: 'Cohort', type: 'string', jsonPath: '.spec.cohortName' },
    { name: 'Strategy', type: 'string', jsonPath: '.spec.queueingStrategy', priority: 1 },
    { name: 'Pending', type: 'integer', jsonPath: '.status.pendingWorkloads' },
    { name: 'Admitted', type: 'integer', jsonPath: '.status.admittedWorkloads' },
    { name: 'Active', type: 'string', jsonPath: ".status.conditions[?(@.type=='Active')].status" },
    AGE_COLUMN,
  ],
};
