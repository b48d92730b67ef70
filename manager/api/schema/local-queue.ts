import { Type } from 'typebox';
import { AGE_COLUMN, type KindSchema } from '../kind-definition.ts';
import { Conditions, ObjectName, StopPolicy } from '../schema-parts.ts';

export const LocalQueueSpecSchema = Type.Object({
  clusterQueue: ObjectName('The ClusterQueue that backs this queue.', { rule: 'self == oldSelf', message: 'clusterQueue is immutable' }),
  stopPolicy: Type.Optional(StopPolicy),
});

export const LocalQueueStatusSchema = Type.Object({
  conditions: Type.Optional(Conditions),
  pendingWorkloads: Type.Optional(Type.Integer({ minimum: 0, format: 'int32', description: 'Jobs that wait for admission.' })),
  admittedWorkloads: Type.Optional(Type.Integer({ minimum: 0, format: 'int32', description: 'Jobs that are admitted and not finished.' })),
});

export const LOCAL_QUEUE_SCHEMA: KindSchema = {
  singular: 'localqueue',
  shortNames: ['lq'],
  description: 'LocalQueue is the queue that users of one namespace submit Jobs to.',
  spec: LocalQueueSpecSchema,
  specRequired: true,
  status: LocalQueueStatusSchema,
  printerColumns: [
    { name: 'ClusterQueue', type: 'string', jsonPath: '.spec.clusterQueue' },
    { name: 'Pending', type: 'integer', jsonPath: '.status.pendingWorkloads' },
    { name: 'Admitted', type: 'integer', jsonPath: '.status.admittedWorkloads' },
    AGE_COLUMN,
  ],
};
