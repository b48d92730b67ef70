import { Type } from 'typebox';
import { FairSharing } from './fair-sharing.ts';
import { AGE_COLUMN, type KindSchema } from '../kind-definition.ts';
import { Carry, CarryContent, Conditions, ObjectName, ResourceList, StopPolicy, withRules } from '../schema-parts.ts';

export const PriorityBoundsSchema = Type.Object(
  {
    min: Type.Optional(Type.Integer({ format: 'int32', description: 'The least; absent: any.' })),
    max: Type.Optional(Type.Integer({ format: 'int32', description: 'The greatest; absent: 0.' })),
  },
  {
    description: 'The priorities that Jobs may give themselves by the annotation switchyard.dev/priority. Classes are not bounded by it.',
    ...withRules({
      rule: '!has(self.min) || self.min <= (has(self.max) ? self.max : 0)',
      message: 'min must not be greater than max, which is 0 where it is absent',
    }),
  },
);

export const LocalQueueSpecSchema = Type.Object({
  clusterQueue: ObjectName('The ClusterQueue that backs this queue.', { rule: 'self == oldSelf', message: 'clusterQueue is immutable' }),
  stopPolicy: Type.Optional(StopPolicy),
  priorityBounds: Type.Optional(PriorityBoundsSchema),
  carry: Type.Optional(
    Carry(
      'The objects that Jobs take to their worker cluster, unless their annotation switchyard.dev/carry says otherwise. Absent: as the ClusterQueue says.',
    ),
  ),
  carryContent: Type.Optional(CarryContent('Which content Jobs take along when they move. Absent: as the ClusterQueue says.')),
  fairSharing: Type.Optional(
    FairSharing('Its weight among the LocalQueues of a ClusterQueue with the admissionMode UsageBasedAdmissionFairSharing.'),
  ),
});

export const LocalQueueStatusSchema = Type.Object({
  conditions: Type.Optional(Conditions),
  pendingWorkloads: Type.Optional(Type.Integer({ minimum: 0, format: 'int32', description: 'Jobs that wait for admission.' })),
  admittedWorkloads: Type.Optional(Type.Integer({ minimum: 0, format: 'int32', description: 'Jobs that are admitted and not finished.' })),
  fairSharing: Type.Optional(
    Type.Object(
      {
        admissionFairSharingStatus: Type.Optional(
          Type.Object(
            {
              consumedResources: ResourceList('What its Jobs have held, by resource; after each half-life a past use counts half.'),
              lastUpdate: Type.String({ format: 'date-time', description: 'The time that consumedResources is about.' }),
            },
            {
              description:
                'What orders the LocalQueues of a ClusterQueue with admission fair sharing. The manager goes on from it after a restart.',
            },
          ),
        ),
      },
      { description: 'How much of its ClusterQueue it has used.' },
    ),
  ),
});

export const LOCAL_QUEUE_SCHEMA: KindSchema = {
  singular: 'localqueue',
  shortNames: ['lq'],
  description: 'LocalQueue is the queue that users of one namespace submit Jobs to.',
  fields: { spec: LocalQueueSpecSchema, status: LocalQueueStatusSchema },
  required: ['spec'],
  printerColumns: [
    { name: 'ClusterQueue', type: 'string', jsonPath: '.spec.clusterQueue' },
    { name: 'Pending', type: 'integer', jsonPath: '.status.pendingWorkloads' },
    { name: 'Admitted', type: 'integer', jsonPath: '.status.admittedWorkloads' },
    AGE_COLUMN,
  ],
};
