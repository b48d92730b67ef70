import { Type } from 'typebox';
import type { Attachment } from '../../../shared/api/attachment.ts';
import { ATTACHMENT_NAME_MAX, ATTACHMENTS_MAX } from '../attachments.ts';
import { SubmissionPhase } from '../../../shared/api/submission-progress.ts';

const Count = (description: string) => Type.Integer({ minimum: 0, description });
const Texts = (description: string) => Type.Record(Type.String(), Type.String(), { description });
const Time = (description: string) => Type.String({ format: 'date-time', description });

/** The payload of a submission in the queue. */
export const SubmissionPayloadSchema = Type.Object(
  {
    manifest: Type.Object(
      {},
      { description: 'The manifest of a batch/v1 Job, or of another kind that the manager takes, as kubectl takes it.' },
    ),
    attachments: Type.Optional(
      Type.Unsafe<readonly Attachment[]>(
        Type.Array(
          Type.Object(
            {
              name: Type.String({ maxLength: ATTACHMENT_NAME_MAX, description: 'By which the manifest refers to it.' }),
              data: Type.Optional(Texts('Texts by key.')),
              binaryData: Type.Optional(Texts('Bytes by key, in base64.')),
            },
            { additionalProperties: false, description: 'A ConfigMap.' },
          ),
          {
            maxItems: ATTACHMENTS_MAX,
            description: 'ConfigMaps that the manifest refers to, of 1 MiB together. They travel with the Job, and go with it.',
          },
        ),
      ),
    ),
    options: Type.Optional(
      Type.Object({
        retry: Type.Optional(
          Type.Literal(true, {
            description: 'BullMQ’s attempts and back-off apply to a Job that fails: each attempt is a Job of its own.',
          }),
        ),
        logs: Type.Optional(
          Type.Literal(true, {
            description: 'The ends of the logs of its pods, as far as they are kept, become lines of BullMQ’s log of the submission.',
          }),
        ),
      }),
    ),
    traceparent: Type.Optional(
      Type.String({
        description: 'W3C: the trace of which the submission is part. The same key with another trace is the same submission.',
      }),
    ),
    signature: Type.Optional(
      Type.Object(
        {
          key: Type.String({ description: 'Name of the key in the SubmissionQueue.' }),
          expires: Time('From then on it proves nothing.'),
          value: Type.String({ description: 'Base64 of the Ed25519 signature.' }),
        },
        { description: 'For queues that take signed submissions alone.' },
      ),
    ),
  },
  { description: 'The data of a BullMQ job that submits a Job. The manifest alone is taken, too.' },
);

/** BullMQ's progress of a submission. */
export const SubmissionProgressSchema = Type.Object(
  {
    phase: Type.Enum(Object.values(SubmissionPhase), { description: 'Where the Job stands.' }),
    reason: Type.Optional(Type.String({ description: 'Why it waits; or how it ended: Complete, or the reason of its failure.' })),
    cluster: Type.Optional(Type.String({ description: 'WorkerCluster that it was placed on.' })),
    active: Count('Pods that run.'),
    succeeded: Count('Pods that have succeeded.'),
    failed: Count('Pods that have failed.'),
  },
  { description: 'How the Job of a submission gets on.' },
);

/** BullMQ's return value of a submission. */
export const JobResultSchema = Type.Object(
  {
    kind: Type.Optional(Type.String({ description: 'Of the object, such as JobSet; absent: a Job.' })),
    namespace: Type.String({ description: 'Of the Job.' }),
    name: Type.String({ description: 'Of the Job.' }),
    uid: Type.String({ description: 'Of the Job.' }),
    cluster: Type.Optional(Type.String({ description: 'WorkerCluster on which it ran.' })),
    succeeded: Count('Pods that have succeeded.'),
    failed: Count('Pods that have failed.'),
    startTime: Type.Optional(Time('When it started.')),
    completionTime: Type.Optional(Time('When it was complete.')),
    completedIndexes: Type.Optional(Type.String({ description: 'Indexed Jobs: such as 0,2-4.' })),
    failedIndexes: Type.Optional(Type.String({ description: 'Indexed Jobs: such as 0,2-4.' })),
  },
  {
    description: 'What a submission resolves with when its Job has completed. One that fails has a failed reason instead, `CODE: message`.',
  },
);

/** Schemas that are shipped with the client, by name of their file. */
export const SUBMISSION_SCHEMAS = {
  payload: SubmissionPayloadSchema,
  progress: SubmissionProgressSchema,
  outcome: JobResultSchema,
} as const;
