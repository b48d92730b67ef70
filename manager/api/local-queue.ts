import { Type, type Static } from 'typebox';
import type { NamespacedMeta } from '../../shared/api/kubernetes.ts';
import { AGE_COLUMN, switchyardResource, type KindDefinition } from './kind-definition.ts';
import { Conditions, ObjectName, StopPolicy } from './schema-parts.ts';

/** The queue that users of one namespace name in their Jobs' queue label; it points to a ClusterQueue. */
export type LocalQueue = {
  apiVersion?: string;
  kind?: string;
  metadata: NamespacedMeta;
  spec: LocalQueueSpec;
  status?: LocalQueueStatus;
};
export type LocalQueueSpec = Static<typeof LocalQueueSpecSchema>;
export type LocalQueueStatus = Static<typeof LocalQueueStatusSchema>;

export const LOCAL_QUEUES = switchyardResource<LocalQueue>({ kind: 'LocalQueue', plural: 'localqueues', namespaced: true });

const LocalQueueSpecSchema = Type.Object({
  clusterQueue: ObjectName('The ClusterQueue that backs this queue.', { rule: 'self == oldSelf', message: 'clusterQueue is immutable' }),
  stopPolicy: Type.Optional(StopPolicy),
});

const LocalQueueStatusSchema = Type.Object({
  conditions: Type.Optional(Conditions),
  pendingWorkloads: Type.Optional(Type.Integer({ minimum: 0, format: 'int32', description: 'Jobs that wait for admission.' })),
  admittedWorkloads: Type.Optional(Type.Integer({ minimum: 0, format: 'int32', description: 'Jobs that are admitted and not finished.' })),
});

export const LOCAL_QUEUE_KIND: KindDefinition = {
  resource: LOCAL_QUEUES,
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
