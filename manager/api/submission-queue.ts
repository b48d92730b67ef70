import type { Static } from 'typebox';
import type { NamespacedMeta } from '../../shared/api/kubernetes.ts';
import { switchyardResource } from './kind-definition.ts';
import type { SubmissionQueueSpecSchema, SubmissionQueueStatusSchema } from './schema/submission-queue.ts';

/** A BullMQ queue of one tenant: the namespaces and LocalQueues of its Jobs, and the account as which the manager creates them. */
export type SubmissionQueueObject = {
  apiVersion?: string;
  kind?: string;
  metadata: NamespacedMeta;
  spec: SubmissionQueueSpec;
  status?: SubmissionQueueStatus;
};
export type SubmissionQueueSpec = Static<typeof SubmissionQueueSpecSchema>;
export type SubmissionQueueStatus = Static<typeof SubmissionQueueStatusSchema>;

export const SUBMISSION_QUEUES = switchyardResource<SubmissionQueueObject>({
  kind: 'SubmissionQueue',
  plural: 'submissionqueues',
  namespaced: true,
});
