import { Type } from 'typebox';
import { AGE_COLUMN, type KindSchema } from '../kind-definition.ts';
import { Conditions, ObjectName, OneOf, withRules } from '../schema-parts.ts';

const NamespaceName = (description: string) =>
  Type.String({
    minLength: 1,
    maxLength: 63,
    pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
    description,
    ...withRules({
      rule: "!self.startsWith('kube-')",
      message: 'namespaces of Kubernetes itself (kube-*) take no submissions; name others',
    }),
  });

export const SubmissionLimitsSchema = Type.Object(
  {
    bytes: Type.Optional(
      Type.Integer({
        minimum: 1024,
        maximum: 16 * 1024 * 1024,
        format: 'int32',
        description: 'Of the text of one submission; a longer one is refused unread. Absent: twice the --max-job-bytes of the manager.',
      }),
    ),
    depth: Type.Optional(
      Type.Integer({
        minimum: 16,
        maximum: 256,
        format: 'int32',
        description: 'Levels that the JSON of one submission may nest; a deeper one is refused unread. Absent: 64.',
      }),
    ),
    perSecond: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 10_000,
        format: 'int32',
        description:
          'Submissions that become Jobs in a second, on average; the others wait in Redis. Absent: as many as its share of the budget.',
      }),
    ),
    parked: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        format: 'int32',
        description: 'Jobs of this queue that have not ended; while there are so many the others wait in Redis. Absent: 100000.',
      }),
    ),
  },
  { description: 'What one queue may ask of the manager.' },
);

export const SubmissionPriorityClassSchema = Type.Object({
  upTo: Type.Integer({
    minimum: 1,
    maximum: 2_097_152,
    format: 'int32',
    description: 'The greatest priority of BullMQ that means this class: 1 is the most urgent there.',
  }),
  name: ObjectName('A WorkloadPriorityClass.'),
});

export const SigningKeySchema = Type.Object({
  name: Type.String({
    minLength: 1,
    maxLength: 63,
    pattern: '^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$',
    description: 'What submissions call it.',
  }),
  publicKey: Type.String({
    minLength: 1,
    maxLength: 512,
    description: 'An Ed25519 public key: PEM, or the base64 of its 32 bytes or of its DER.',
  }),
  notAfter: Type.Optional(Type.String({ format: 'date-time', description: 'From then on it proves nothing. Absent: never.' })),
});

export const SubmissionQueueSpecSchema = Type.Object(
  {
    prefix: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 200,
        pattern: '^[-A-Za-z0-9_.:{}]+$',
        description:
          'BullMQ’s key prefix; on a Redis Cluster with a hash tag. Absent: switchyard:tenant:NAMESPACE, on a Redis Cluster in braces. Nobody else’s may be like it.',
      }),
    ),
    queue: Type.Optional(
      Type.String({
        minLength: 1,
        maxLength: 100,
        pattern: '^[-A-Za-z0-9_.]+$',
        description: 'Name of the BullMQ queue. Absent: the name of this object.',
        ...withRules({
          rule: "!self.endsWith('-control') && !self.endsWith('-gates')",
          message: 'queues called NAME-control and NAME-gates belong to the queue NAME; choose another name',
        }),
      }),
    ),
    namespaces: Type.Optional(
      Type.Array(NamespaceName('A namespace.'), {
        maxItems: 64,
        'x-kubernetes-list-type': 'set',
        description: 'Further namespaces that its Jobs may be in, beside that of this object, which is where they are by default.',
      }),
    ),
    localQueues: Type.Optional(
      Type.Array(ObjectName('A LocalQueue.'), {
        maxItems: 64,
        'x-kubernetes-list-type': 'set',
        description:
          'LocalQueues that its Jobs may name. Those that name none go to the first. Absent or empty: any, and each Job names one.',
      }),
    ),
    serviceAccountName: Type.Optional(
      ObjectName(
        'The ServiceAccount, of the namespace of this object, as which the manager creates the Jobs: what it may do, they may do.',
      ),
    ),
    identity: Type.Optional(
      OneOf(['ServiceAccount', 'Manager'], {
        default: 'ServiceAccount',
        description: 'As whom Jobs are created. Manager: with the rights of the manager, where that runs with --allow-manager-identity.',
      }),
    ),
    limits: Type.Optional(SubmissionLimitsSchema),
    weight: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1000,
        default: 1,
        format: 'int32',
        description: 'Its share of the turns while several queues have submissions to make Jobs of.',
      }),
    ),
    priorityClasses: Type.Optional(
      Type.Array(SubmissionPriorityClassSchema, {
        maxItems: 64,
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['upTo'],
        description:
          'What priorities of BullMQ mean: the class with the least upTo that is not below the priority. A class that a manifest names stands.',
      }),
    ),
    signing: Type.Optional(
      Type.Object(
        {
          keys: Type.Array(SigningKeySchema, {
            minItems: 1,
            maxItems: 16,
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['name'],
            description: 'Any one of them will do.',
          }),
        },
        { description: 'Only signed submissions are taken. Absent: whoever may write to the queue in Redis may submit.' },
      ),
    ),
    onUnadmittable: Type.Optional(
      OneOf(['Fail', 'Wait'], {
        default: 'Fail',
        description: 'Fail deletes a Job that can never be admitted and fails its submission; Wait lets it wait for a change.',
      }),
    ),
  },
  withRules(
    {
      rule: "has(self.serviceAccountName) != (has(self.identity) && self.identity == 'Manager')",
      message: 'name a serviceAccountName, or set identity to Manager and name none',
    },
    {
      rule: 'has(self.prefix) == has(oldSelf.prefix) && (!has(self.prefix) || self.prefix == oldSelf.prefix)',
      message: 'prefix is immutable: what waits under it would be forgotten; make another SubmissionQueue',
    },
    {
      rule: 'has(self.queue) == has(oldSelf.queue) && (!has(self.queue) || self.queue == oldSelf.queue)',
      message: 'queue is immutable: what waits in it would be forgotten; make another SubmissionQueue',
    },
  ),
);

const count = (description: string) => Type.Optional(Type.Integer({ minimum: 0, format: 'int64', description }));

export const SubmissionQueueStatusSchema = Type.Object({
  conditions: Type.Optional(Conditions),
  prefix: Type.Optional(Type.String({ description: 'BullMQ’s key prefix under which submissions are looked for.' })),
  backlog: count('Submissions in Redis that nobody has taken up yet.'),
  parked: count('Submissions whose Jobs have not ended.'),
  accepted: count('Submissions that have become Jobs since the manager leads.'),
  refused: count('Submissions that were refused since the manager leads.'),
});

export const SUBMISSION_QUEUE_SCHEMA: KindSchema = {
  singular: 'submissionqueue',
  shortNames: ['subq'],
  description:
    'SubmissionQueue is a BullMQ queue from which Jobs are made, for one tenant: where they may go, and as whom they are created. Who may write it gives away rights.',
  fields: { spec: SubmissionQueueSpecSchema, status: SubmissionQueueStatusSchema },
  required: ['spec'],
  printerColumns: [
    { name: 'Ready', type: 'string', jsonPath: ".status.conditions[?(@.type=='Ready')].status" },
    { name: 'Reason', type: 'string', jsonPath: ".status.conditions[?(@.type=='Ready')].reason" },
    { name: 'Backlog', type: 'integer', jsonPath: '.status.backlog' },
    { name: 'Parked', type: 'integer', jsonPath: '.status.parked' },
    { name: 'Account', type: 'string', jsonPath: '.spec.serviceAccountName', priority: 1 },
    { name: 'Prefix', type: 'string', jsonPath: '.status.prefix', priority: 1 },
    { name: 'Redis', type: 'string', jsonPath: ".status.conditions[?(@.type=='RedisHealthy')].reason", priority: 1 },
    AGE_COLUMN,
  ],
};
