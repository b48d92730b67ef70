import { Type } from 'typebox';
import { BUILT_IN_JOB_CONTROLLER_NAME, DEFAULT_LEASE_NAMESPACE, WORKER_CONTROLLER_NAME } from '../../../shared/api/names.ts';
import { FENCED_KINDS_MAX } from '../../../shared/api/fenced-kinds.ts';
import { MISSING_OBJECTS_MAX } from '../needed-objects.ts';
import { PRIORITY_CLASSES_MAX } from '../priority-class.ts';
import { RUNTIME_CLASSES_MAX } from '../runtime-class.ts';
import { CLUSTER_DATA_MAX, DATA_NAME_PATTERN } from '../data-names.ts';
import { AGE_COLUMN, type KindSchema } from '../kind-definition.ts';
import { NODE_SHAPES_MAX } from '../node-shape.ts';
import { Conditions, Duration, ObjectName, OneOf, ResourceList, withRules } from '../schema-parts.ts';

/** A label key, or its prefix with a star for the name. */
const LABEL_KEY_OR_PREFIX =
  '^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$|^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/[*]$';

export const WorkerClusterSpecSchema = Type.Object(
  {
    kubeconfigSecretRef: Type.Optional(
      Type.Object(
        {
          namespace: ObjectName('Namespace of the Secret.'),
          name: ObjectName('Name of the Secret.'),
          key: Type.Optional(Type.String({ minLength: 1, maxLength: 253, default: 'kubeconfig', description: 'Key within the Secret.' })),
        },
        { description: 'The Secret that holds a kubeconfig of the cluster.' },
      ),
    ),
    local: Type.Optional(Type.Boolean({ default: false, description: 'The manager cluster itself takes Jobs too.' })),
    jobController: Type.Optional(
      OneOf([WORKER_CONTROLLER_NAME, BUILT_IN_JOB_CONTROLLER_NAME], {
        default: WORKER_CONTROLLER_NAME,
        description: 'Who runs the mirrored Jobs there; the built-in Job controller gets copies without spec.managedBy.',
      }),
    ),
    state: Type.Optional(
      OneOf(['Active', 'Cordoned', 'Draining', 'Lost'], {
        default: 'Active',
        description:
          'Cordoned takes no new Jobs; Draining also moves its Jobs; Lost gives it up: its Jobs run elsewhere once its worker must have stopped them.',
      }),
    ),
    preference: Type.Optional(
      Type.Integer({
        minimum: -1_000_000,
        maximum: 1_000_000,
        default: 0,
        format: 'int32',
        description: 'Clusters with a greater preference are filled first.',
      }),
    ),
    data: Type.Optional(
      Type.Array(
        Type.Object({
          name: Type.String({
            maxLength: 63,
            pattern: DATA_NAME_PATTERN,
            description: 'As Jobs name it in annotation switchyard.dev/data.',
          }),
          weight: Type.Optional(
            Type.Integer({
              minimum: 1,
              maximum: 1_000_000,
              default: 1,
              format: 'int32',
              description: 'How much nearer a Job is to this data here: the weights of all that it names are added.',
            }),
          ),
        }),
        {
          maxItems: CLUSTER_DATA_MAX,
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name'],
          description:
            'Data sets in this cluster or near it. Among clusters of equal preference, Jobs go where the sum of the weights of their data is greatest.',
        },
      ),
    ),
    capacity: Type.Optional(ResourceList('What Jobs may use there together; what the nodes report when absent.')),
    namespaces: Type.Optional(
      OneOf(['Require', 'Create'], {
        default: 'Require',
        description: 'When the namespace of a Job is missing there: Require refuses the Job, Create makes the namespace.',
      }),
    ),
    namespaceLabels: Type.Optional(
      Type.Array(Type.String({ maxLength: 317, pattern: LABEL_KEY_OR_PREFIX }), {
        maxItems: 32,
        'x-kubernetes-list-type': 'set',
        description:
          'Labels that a namespace made there gets from the one of the manager cluster: keys, or prefix/* for all of a prefix; pod-security.kubernetes.io/* when absent.',
      }),
    ),
    servedNamespaces: Type.Optional(
      Type.Array(Type.String({ maxLength: 63, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' }), {
        minItems: 1,
        maxItems: 64,
        'x-kubernetes-list-type': 'set',
        description: 'Namespaces whose Jobs it takes, and the only ones in which the manager looks for Jobs there; all when absent.',
      }),
    ),
    retainFinished: Type.Optional(
      Type.Object(
        {
          complete: Type.Optional(Duration('0s', 'Of those that completed.')),
          failed: Type.Optional(Duration('0s', 'Of those that failed.')),
        },
        {
          description:
            'How long the latest 100 copies of finished Jobs stay there with their pods, and no longer than the Job itself. Absent: they go at once.',
        },
      ),
    ),
    leaseNamespace: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 63,
        pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
        default: DEFAULT_LEASE_NAMESPACE,
        description:
          'Namespace there of the Leases of manager and worker (--lease-namespace of the worker). switchyard-system and kube-system, that of earlier releases, each stand for both.',
      }),
    ),
  },
  withRules(
    {
      rule: 'has(self.kubeconfigSecretRef) != (has(self.local) && self.local)',
      message: 'exactly one of kubeconfigSecretRef and local: true must be set',
    },
    {
      rule: `!(has(self.local) && self.local) || !has(self.jobController) || self.jobController == '${WORKER_CONTROLLER_NAME}'`,
      message: `a local cluster must use jobController ${WORKER_CONTROLLER_NAME}`,
    },
    {
      rule: "!(has(self.local) && self.local) || !has(self.namespaces) || self.namespaces == 'Require'",
      message: 'namespaces: Create must not be set on a local cluster, where the namespace of every Job is there already',
    },
    {
      rule: "!has(self.namespaceLabels) || (has(self.namespaces) && self.namespaces == 'Create')",
      message: 'namespaceLabels must not be set without namespaces: Create',
    },
  ),
);

export const WorkerClusterStatusSchema = Type.Object({
  conditions: Type.Optional(Conditions),
  clusterUID: Type.Optional(
    Type.String({
      maxLength: 128,
      description:
        'Which cluster it is: the UID of the namespace kube-system there. While another one is read, it is not Ready (ClusterChanged).',
    }),
  ),
  lostSince: Type.Optional(
    Type.String({ format: 'date-time', description: 'When the connection was first lost, while it has not come back.' }),
  ),
  lostCounted: Type.Optional(
    Type.Object(
      {
        since: Type.String({ format: 'date-time', description: 'The lostSince that this is about.' }),
        seconds: Type.Integer({ minimum: 0, format: 'int64', description: 'Written once a minute within the first hour.' }),
      },
      { description: 'For how long it has been lost at least, as its managers have counted: their clocks may differ.' },
    ),
  ),
  allocatable: Type.Optional(ResourceList('Sum of what the schedulable nodes offer.')),
  nodeShapes: Type.Optional(
    Type.Array(
      Type.Object({
        count: Type.Integer({ minimum: 1, description: 'How many nodes have this shape.' }),
        allocatable: ResourceList('The most that a node of this shape offers.'),
      }),
      {
        maxItems: NODE_SHAPES_MAX,
        'x-kubernetes-list-type': 'atomic',
        description:
          'The schedulable nodes by what they offer: a Job whose pods do not fit on them is not placed there. Absent while they are not known, or too different.',
      },
    ),
  ),
  priorityClasses: Type.Optional(
    Type.Array(Type.String({ maxLength: 253 }), {
      maxItems: PRIORITY_CLASSES_MAX,
      'x-kubernetes-list-type': 'set',
      description:
        'PriorityClasses there, those of the system excepted: a Job whose pods name another one is not placed there. Absent while they are not known, or are too many.',
    }),
  ),
  workKinds: Type.Optional(
    Type.Array(Type.String({ maxLength: 253 }), {
      maxItems: 64,
      'x-kubernetes-list-type': 'set',
      description:
        'Kinds of work beside Jobs that the manager can list there, as RESOURCE.GROUP: an object of another kind is not placed there. Absent: none.',
    }),
  ),
  runtimeClasses: Type.Optional(
    Type.Array(Type.String({ maxLength: 253 }), {
      maxItems: RUNTIME_CLASSES_MAX,
      'x-kubernetes-list-type': 'set',
      description:
        'RuntimeClasses there: a Job whose pods name another one is not placed there. Absent while they are not known, or are too many.',
    }),
  ),
  missingObjects: Type.Optional(
    Type.Array(Type.String({ maxLength: 340 }), {
      maxItems: MISSING_OBJECTS_MAX,
      'x-kubernetes-list-type': 'set',
      description:
        'Objects that waiting Jobs need and that do not exist there, such as PersistentVolumeClaim team/data: the first of them. Those Jobs are not placed there.',
    }),
  ),
  unreadableNamespaces: Type.Optional(
    Type.Array(Type.String({ maxLength: 63 }), {
      maxItems: 64,
      'x-kubernetes-list-type': 'set',
      description: 'Those of servedNamespaces in which the manager may not list Jobs: no Job of theirs is placed there. Absent: none.',
    }),
  ),
  used: Type.Optional(ResourceList('Sum of what the Jobs placed there request.')),
  version: Type.Optional(Type.String({ description: 'Version of the API server.' })),
  worker: Type.Optional(
    Type.Object(
      {
        name: Type.Optional(Type.String({ maxLength: 253, description: 'Who leads there: the host or pod.' })),
        version: Type.Optional(Type.String({ maxLength: 64, description: 'Its version.' })),
        controllerName: Type.Optional(Type.String({ maxLength: 63, description: 'spec.managedBy of the Jobs that it runs.' })),
        fenceAfterSeconds: Type.Optional(
          Type.Integer({
            minimum: 0,
            format: 'int64',
            description: 'It stops copies when it has not heard of the manager for so long; 0: it does not.',
          }),
        ),
        fencedKinds: Type.Optional(
          Type.Array(Type.String({ maxLength: 340 }), {
            maxItems: FENCED_KINDS_MAX,
            'x-kubernetes-list-type': 'set',
            description: 'The kinds beside Jobs of which it stops copies as well: jobsets.v1alpha2.jobset.x-k8s.io.',
          }),
        ),
      },
      { description: 'What the worker there has last said of itself.' },
    ),
  ),
  roundTripMs: Type.Optional(Type.Integer({ minimum: 0, format: 'int64', description: 'Last measured round trip, in milliseconds.' })),
});

export const WORKER_CLUSTER_SCHEMA: KindSchema = {
  singular: 'workercluster',
  shortNames: ['wc'],
  description: 'WorkerCluster is a cluster on which Jobs can run.',
  fields: { spec: WorkerClusterSpecSchema, status: WorkerClusterStatusSchema },
  required: ['spec'],
  printerColumns: [
    { name: 'State', type: 'string', jsonPath: '.spec.state' },
    { name: 'Reachable', type: 'string', jsonPath: ".status.conditions[?(@.type=='Reachable')].status" },
    { name: 'Ready', type: 'string', jsonPath: ".status.conditions[?(@.type=='Ready')].status" },
    { name: 'Able', type: 'string', jsonPath: ".status.conditions[?(@.type=='Able')].status", priority: 1 },
    { name: 'Worker', type: 'string', jsonPath: ".status.conditions[?(@.type=='WorkerAlive')].status", priority: 1 },
    { name: 'Reason', type: 'string', jsonPath: ".status.conditions[?(@.type=='Ready')].reason", priority: 1 },
    { name: 'Version', type: 'string', jsonPath: '.status.version', priority: 1 },
    AGE_COLUMN,
  ],
};
