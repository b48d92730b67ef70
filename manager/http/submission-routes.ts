import { createHash } from 'node:crypto';
import type { AccessAttributes } from '../../shared/kube/access-reviews.ts';
import { SubmissionProblem, type SubmissionPayload, type SubmissionState, type SubmissionPort } from '../api/submission-port.ts';
import { ATTACHMENT_NAME_MAX, ATTACHMENTS_MAX, readAttachments } from '../api/attachments.ts';
import { formatProblems } from '../api/field-problem.ts';
import { isJsonObject } from '../api/json-value.ts';
import { formatTraceparent, parseTraceparent } from '../../shared/api/trace-context.ts';
import { RequestRefused, type Audited, type Parameters, type Route, type ServerEvent } from './route.ts';

/** The port of a SubmissionQueue; undefined when there is none of that name, or it is not served. */
export type PortOf = (namespace: string, queue: string) => SubmissionPort | undefined;

const COLLECTION = '/apis/submissions/v1/namespaces/{namespace}/queues/{queue}/submissions';
const ONE = `${COLLECTION}/{key}`;

const access =
  (verb: string) =>
  ({ namespace = '', queue = '' }: Parameters): AccessAttributes => ({
    resourceAttributes: { namespace, verb, group: 'switchyard.dev', resource: 'submissionqueues', subresource: 'submissions', name: queue },
  });

/** The name of the queue while no key is known. */
const nameOf = ({ queue = '' }: Parameters, key: string | undefined): string => (key === undefined ? queue : `${queue}/${key}`);
const audited = (what: string): Audited => ({
  what,
  on: (parameters) => ({ kind: 'Submission', namespace: parameters['namespace'] ?? '', name: nameOf(parameters, parameters['key']) }),
  lines: 'All',
});

/** Submissions over HTTP, for clients without BullMQ: they go to the same queue, and become Jobs like all others. */
export function submissionRoutes(portOf: PortOf): readonly Route[] {
  const port: PortIn = ({ namespace = '', queue = '' }) => {
    const found = portOf(namespace, queue);
    if (found === undefined)
      throw notFound(`SubmissionQueue ${namespace}/${queue} does not exist, or takes nothing; see its condition Ready`);
    return found;
  };
  return [...submitRoutes(port), lookRoute(port), cancelRoute(port), followRoute(port)];
}

/** The port of the queue in a path. Throws {@link RequestRefused} where there is none. */
type PortIn = (parameters: Parameters) => SubmissionPort;

function submitRoutes(port: PortIn): readonly Route[] {
  const submission: Pick<Route, 'method' | 'access' | 'body' | 'answers' | 'audited' | 'handle'> = {
    method: 'POST',
    access: access('create'),
    body: 'Payload',
    answers: {
      201: { about: 'taken', schema: 'Submitted' },
      200: { about: 'taken before, with the same payload', schema: 'Submitted' },
      400: { about: 'the body is no JSON', schema: 'Status' },
      404: { about: 'there is no such queue', schema: 'Status' },
      409: { about: 'another payload lies under this key', schema: 'Status' },
      413: { about: 'the body is too large', schema: 'Status' },
      422: { about: 'the payload or the key cannot be used', schema: 'Status' },
    },
    audited: audited('submit'),
    async handle({ parameters, body, traceparent, user }) {
      const context = parseTraceparent(traceparent);
      const payload = { ...payloadOf(body), ...(context && { traceparent: formatTraceparent(context) }) };
      const { key, isNew } = await port(parameters).submit(payload, parameters['key'], user?.username).catch(refuse);
      const headers = { location: locationOf(parameters, key) };
      const audited = { name: nameOf(parameters, key), ...(isNew ? {} : { reason: 'it was taken before, with the same payload' }) };
      return { kind: 'Json', status: isNew ? 201 : 200, body: { key }, headers, audited };
    },
  };
  return [
    { ...submission, path: COLLECTION, summary: 'Submits a Job under a key that is made for it' },
    { ...submission, path: ONE, summary: 'Submits a Job under a key; the same again is the same submission' },
  ];
}

const lookRoute = (port: PortIn): Route => ({
  method: 'GET',
  path: ONE,
  summary: 'How a submission gets on, and how it ended',
  access: access('get'),
  answers: {
    200: { about: 'as it is now', schema: 'Submission' },
    404: { about: 'it is not there, or not any more', schema: 'Status' },
  },
  async handle({ parameters }) {
    const { key = '' } = parameters;
    const view = await port(parameters).look(key);
    if (view === undefined) throw unknownKey(key);
    return { kind: 'Json', status: 200, body: view };
  },
});

const cancelRoute = (port: PortIn): Route => ({
  method: 'DELETE',
  path: ONE,
  summary: 'Cancels a submission: its Job is deleted',
  access: access('delete'),
  answers: {
    200: { about: 'whether it ends as Cancelled; it does not when it had ended', schema: 'Cancelled' },
    202: { about: 'no manager has seen to it yet; it will', schema: 'Cancelled' },
    404: { about: 'it is not there, or not any more', schema: 'Status' },
  },
  audited: audited('cancel'),
  async handle({ parameters, user }) {
    const { key = '' } = parameters;
    try {
      const answer = await port(parameters).cancel(key, user?.username);
      if (answer.state === 'unknown') throw unknownKey(key);
      if (answer.cancelled) return { kind: 'Json', status: 200, body: answer };
      const reason = `it does not end as cancelled: its state is ${answer.state}`;
      return { kind: 'Json', status: 200, body: answer, audited: { outcome: 'Missing', reason } };
    } catch (error) {
      if (error instanceof SubmissionProblem && error.code === 'TimedOut')
        return {
          kind: 'Json',
          status: 202,
          body: { cancelled: false, state: 'pending' },
          audited: { outcome: 'Pending', reason: error.message },
        };
      throw error;
    }
  },
});

const followRoute = (port: PortIn): Route => ({
  method: 'GET',
  path: `${ONE}/events`,
  summary: 'A submission as it is now and whenever that changes, until it has ended, as server-sent events',
  access: access('get'),
  answers: {
    200: {
      about: 'events `progress` and, last, `ended`; data is a Submission',
      schema: 'Submission',
      contentType: 'text/event-stream',
    },
    404: { about: 'it is not there, or not any more', schema: 'Status' },
  },
  async handle({ parameters, lastEventId, signal }) {
    const { key = '' } = parameters;
    const from = port(parameters);
    if ((await from.look(key)) === undefined) throw unknownKey(key);
    return { kind: 'Events', events: eventsOf(from.follow(key, signal), lastEventId) };
  },
});

/** Event ids are digests of the state, so that a client that reconnects does not receive the same state again. */
async function* eventsOf(views: AsyncIterable<SubmissionState>, lastEventId: string | undefined): AsyncGenerator<ServerEvent> {
  for await (const view of views) {
    const id = createHash('sha256').update(JSON.stringify(view)).digest('base64url').slice(0, 16);
    const event = view.state === 'Completed' || view.state === 'Failed' ? 'ended' : 'progress';
    if (id !== lastEventId) yield { id, event, data: view };
  }
}

/** `{manifest, attachments, options}`, or the manifest itself. */
function payloadOf(body: unknown): SubmissionPayload {
  if (!isJsonObject(body))
    throw invalid(
      'the body is no JSON object; give the manifest of a Job or of another kind that is taken, or {manifest, attachments, options}',
    );
  if (!('manifest' in body)) return { manifest: body };
  const { manifest, attachments, options = {}, ...others } = body;
  if (!isJsonObject(manifest)) throw invalid('manifest: is no object; give the manifest of a Job or of another kind that is taken');
  const read = readAttachments(attachments);
  if (read.kind === 'Refused') throw invalid(formatProblems(read.problems));
  if (!isJsonObject(options)) throw invalid('options: is no object');
  const { name, retry, logs, priority, delayMs, ...unknown } = options;
  const [other] = [...Object.keys(others), ...Object.keys(unknown).map((field) => `options.${field}`)];
  if (other !== undefined)
    throw invalid(
      `${other}: is unknown; there are manifest, attachments, options.name, options.retry, options.logs, options.priority, options.delayMs`,
    );
  if (name !== undefined && typeof name !== 'string') throw invalid('options.name: is no text');
  if (retry !== undefined && typeof retry !== 'boolean') throw invalid('options.retry: write true or false');
  if (logs !== undefined && typeof logs !== 'boolean') throw invalid('options.logs: write true or false');
  const whole = (field: string, value: unknown, max: number): number | undefined => {
    if (value === undefined) return undefined;
    if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= max) return value;
    throw invalid(`options.${field}: is no whole number from 0 to ${max}`);
  };
  const wished = { priority: whole('priority', priority, PRIORITY_MAX), delayMs: whole('delayMs', delayMs, DELAY_MAX_MS) };
  return {
    manifest,
    ...(read.attachments.length === 0 ? {} : { attachments: read.attachments }),
    ...(name === undefined ? {} : { name }),
    ...(retry === true ? { retry } : {}),
    ...(logs === true ? { logs } : {}),
    ...(wished.priority === undefined ? {} : { priority: wished.priority }),
    ...(wished.delayMs === undefined ? {} : { delayMs: wished.delayMs }),
  };
}

/** The bound of BullMQ. */
const PRIORITY_MAX = 2_097_151;
const DELAY_MAX_MS = 365 * 24 * 3600 * 1000;

const locationOf = ({ namespace = '', queue = '' }: Parameters, key: string): string =>
  COLLECTION.replace('{namespace}', encodeURIComponent(namespace)).replace('{queue}', encodeURIComponent(queue)) +
  `/${encodeURIComponent(key)}`;

const invalid = (message: string): RequestRefused => new RequestRefused(422, 'Invalid', message);
const notFound = (message: string): RequestRefused => new RequestRefused(404, 'NotFound', message);
const unknownKey = (key: string): RequestRefused =>
  notFound(`the queue does not know a submission ${JSON.stringify(key)}, or not any more`);

function refuse(error: unknown): never {
  if (!(error instanceof SubmissionProblem)) throw error;
  throw error.code === 'Conflict' ? new RequestRefused(409, 'Conflict', error.message) : invalid(error.message);
}

const TEXT = { type: 'string' };
const COUNT = { type: 'integer', minimum: 0 };
/** Schemas of the OpenAPI document. */
export const SUBMISSION_SCHEMAS: Readonly<Record<string, object>> = {
  Payload: {
    description: 'The manifest of a batch/v1 Job or of another kind that is taken, or that with ConfigMaps and options.',
    oneOf: [
      { type: 'object', required: ['spec'], description: 'batch/v1 Job, or an object of another kind that is taken' },
      {
        type: 'object',
        required: ['manifest'],
        additionalProperties: false,
        properties: {
          manifest: { type: 'object', description: 'batch/v1 Job, or an object of another kind that is taken' },
          attachments: {
            type: 'array',
            maxItems: ATTACHMENTS_MAX,
            description: 'ConfigMaps that the manifest refers to, of 1 MiB together; they travel with the Job, and go with it',
            items: {
              type: 'object',
              required: ['name'],
              additionalProperties: false,
              properties: {
                name: { ...TEXT, maxLength: ATTACHMENT_NAME_MAX, description: 'by which the manifest refers to it' },
                data: { type: 'object', additionalProperties: TEXT, description: 'texts by key' },
                binaryData: { type: 'object', additionalProperties: TEXT, description: 'bytes by key, in base64' },
              },
            },
          },
          options: {
            type: 'object',
            additionalProperties: false,
            properties: {
              name: { ...TEXT, description: 'what people and metrics call it' },
              retry: { type: 'boolean', description: 'a failed Job is tried again, three attempts in all' },
              logs: { type: 'boolean', description: 'the ends of the logs of its pods become lines of BullMQ’s log' },
              priority: { ...COUNT, maximum: PRIORITY_MAX, description: '1 is the most urgent, 0 none' },
              delayMs: { ...COUNT, maximum: DELAY_MAX_MS, description: 'how long it stays on the queue before it is looked at' },
            },
          },
        },
      },
    ],
  },
  Submitted: { type: 'object', required: ['key'], properties: { key: TEXT } },
  Cancelled: { type: 'object', required: ['cancelled', 'state'], properties: { cancelled: { type: 'boolean' }, state: TEXT } },
  Submission: {
    type: 'object',
    required: ['key', 'submittedAt', 'state'],
    properties: {
      key: TEXT,
      submittedAt: { type: 'string', format: 'date-time' },
      state: { enum: ['Delayed', 'Accepted', 'Completed', 'Failed'] },
      progress: {
        type: 'object',
        required: ['phase', 'active', 'succeeded', 'failed'],
        properties: {
          phase: { enum: ['Queued', 'Admitted', 'Running', 'Suspended', 'Finished'] },
          reason: TEXT,
          cluster: TEXT,
          active: COUNT,
          succeeded: COUNT,
          failed: COUNT,
        },
      },
      result: { type: 'object', required: ['namespace', 'name', 'uid', 'succeeded', 'failed'] },
      failure: { type: 'object', required: ['code', 'message'], properties: { code: TEXT, message: TEXT } },
    },
  },
};
