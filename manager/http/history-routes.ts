import type { AccessAttributes } from '../../shared/kube/access-reviews.ts';
import { parseWireTime } from '../../shared/api/wire-time.ts';
import { TooMuchWaits } from '../../shared/runtime/fair-slots.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { parseQualifiedName, resourceOfWork } from '../work-kind/qualified-name.ts';
import { RequestRefused, type Parameters, type Route } from './route.ts';
import { workOf } from './work-of.ts';

/** The history of ended Jobs, as far as it is served. */
export type HistoryReader = {
  query(query: {
    readonly namespace: string;
    readonly name?: string;
    /** `jobs`, or `RESOURCE.GROUP` of another kind; absent: any kind. */
    readonly resource?: string;
    readonly outcome?: Outcome;
    readonly user?: string;
    readonly sinceMs?: number;
    readonly hidesCanaries?: boolean;
    readonly limit: number;
  }): Promise<readonly (object & { readonly uid: string })[]>;
  /** Usage of ended Jobs of the namespace in a period. */
  usage(query: { readonly namespace: string; readonly by: UsageGroup; readonly fromMs: number; readonly untilMs: number }): Promise<object>;
  podsOf(
    uid: string,
  ): Promise<readonly { readonly copyUid: string; readonly cluster: string; readonly pods: readonly { readonly pod: string }[] }[]>;
  tail(uid: string, copyUid: string, pod: string): Promise<string | undefined>;
};

const OUTCOMES = ['Complete', 'Failed', 'Deleted'] as const;
type Outcome = (typeof OUTCOMES)[number];

const USAGE_GROUPS = ['user', 'queue', 'cluster'] as const;
type UsageGroup = (typeof USAGE_GROUPS)[number];

const USAGE = '/apis/history/v1/namespaces/{namespace}/usage';
const COLLECTION = '/apis/history/v1/namespaces/{namespace}/jobs';
const ONE = '/apis/history/v1/namespaces/{namespace}/{resource}/{name}';
const LIMIT = 100;
const LIMIT_MAX = 1_000;

/** A user who may read the Jobs of a namespace may read their history; one who may also read logs there may read stored log tails. */
const list = ({ namespace = '' }: Parameters): AccessAttributes => ({
  resourceAttributes: { namespace, verb: 'list', group: 'batch', resource: 'jobs' },
});
function get(parameters: Parameters): AccessAttributes {
  const { namespace, name: qualified } = workOf(parameters);
  const { group, plural: resource } = resourceOfWork(qualified);
  return { resourceAttributes: { namespace, verb: 'get', group, resource, name: parseQualifiedName(qualified).name } };
}
const logs = (parameters: Parameters): readonly AccessAttributes[] => {
  const { namespace = '', pod = '' } = parameters;
  return [get(parameters), { resourceAttributes: { namespace, verb: 'get', group: '', resource: 'pods', subresource: 'log', name: pod } }];
};

/** History over HTTP, by namespaces. */
export const historyRoutes = (history: HistoryReader): readonly Route[] => [
  listRoute(history),
  usageRoute(history),
  recordRoute(history),
  logRoute(history),
];

const listRoute = (history: HistoryReader): Route => ({
  method: 'GET',
  path: COLLECTION,
  summary: 'Jobs of a namespace that have ended, the latest first',
  query: {
    limit: `how many at most, 1 to ${LIMIT_MAX}; ${LIMIT} without it`,
    name: 'only Jobs of this name',
    resource: 'only Jobs (jobs), or only objects of another kind (RESOURCE.GROUP, such as jobsets.jobset.x-k8s.io)',
    outcome: `only Jobs with this outcome: ${OUTCOMES.join(', ')}`,
    user: 'only Jobs that this user created or submitted',
    since: 'only Jobs that ended at or after this time (RFC 3339)',
    canaries: '`1`: canaries as well, which are left out where no name is asked for',
  },
  access: list,
  answers: { 200: { about: 'records', schema: 'History' }, 422: { about: 'a parameter cannot be used', schema: 'Status' } },
  async handle({ parameters: { namespace = '' }, query }) {
    const given = (name: string): string | undefined => query.get(name) ?? undefined;
    const filters = omitUndefined({
      name: given('name'),
      resource: given('resource'),
      user: given('user'),
      outcome: outcomeOf(query.get('outcome')),
      sinceMs: timeOf('since', query.get('since')),
    });
    const hidesCanaries = filters.name === undefined && query.get('canaries') !== '1';
    const items = await history.query({ namespace, hidesCanaries, limit: limitOf(query.get('limit')), ...filters });
    return { kind: 'Json', status: 200, body: { items } };
  },
});

const usageRoute = (history: HistoryReader): Route => ({
  method: 'GET',
  path: USAGE,
  summary: 'What ended Jobs of a namespace used in a period',
  query: {
    by: `the sums: one of ${USAGE_GROUPS.join(', ')}`,
    from: 'beginning of the period (RFC 3339)',
    to: 'its end (RFC 3339)',
  },
  access: list,
  answers: {
    200: { about: 'sums', schema: 'Usage' },
    422: { about: 'a parameter cannot be used', schema: 'Status' },
    429: { about: 'too many sums of the namespace wait', schema: 'Status' },
  },
  async handle({ parameters: { namespace = '' }, query }) {
    const by = USAGE_GROUPS.find((each) => each === query.get('by'));
    if (by === undefined) throw new RequestRefused(422, 'Invalid', `by: write one of ${USAGE_GROUPS.join(', ')}`);
    const [fromMs, untilMs] = [timeOf('from', query.get('from') ?? ''), timeOf('to', query.get('to') ?? '')];
    if (fromMs === undefined || untilMs === undefined || fromMs >= untilMs)
      throw new RequestRefused(422, 'Invalid', 'to: must be later than from');
    return { kind: 'Json', status: 200, body: await inTurn(history.usage({ namespace, by, fromMs, untilMs })) };
  },
});

const recordRoute = (history: HistoryReader): Route => ({
  method: 'GET',
  path: ONE,
  summary: 'What became of the last Job of a name, and what its pods ended with',
  access: get,
  answers: { 200: { about: 'its record', schema: 'HistoryRecord' }, 404: { about: 'there is none', schema: 'Status' } },
  async handle({ parameters }) {
    const record = await latest(history, parameters);
    return { kind: 'Json', status: 200, body: { ...record, copies: await history.podsOf(record.uid) } };
  },
});

const logRoute = (history: HistoryReader): Route => ({
  method: 'GET',
  path: `${ONE}/pods/{pod}/log`,
  summary: 'What is kept of the log of one of its pods',
  access: logs,
  answers: { 200: { about: 'the end of the log', schema: 'LogTail' }, 404: { about: 'none is kept', schema: 'Status' } },
  async handle({ parameters }) {
    const { pod = '' } = parameters;
    const { uid } = await latest(history, parameters);
    const copy = (await history.podsOf(uid)).findLast(({ pods }) => pods.some((each) => each.pod === pod));
    const log = copy && (await history.tail(uid, copy.copyUid, pod));
    if (copy === undefined || log === undefined) throw notFound(`no log of pod ${pod} is kept`);
    return { kind: 'Json', status: 200, body: { pod, cluster: copy.cluster, log } };
  },
});

async function latest(history: HistoryReader, parameters: Parameters): Promise<object & { readonly uid: string }> {
  const { namespace = '', resource = '', name = '' } = parameters;
  const [record] = await history.query({ namespace, name, resource, limit: 1 });
  if (record === undefined) throw notFound(`there is no history of ${resource === 'jobs' ? 'a Job' : resource} ${namespace}/${name}`);
  return record;
}

async function inTurn(sums: Promise<object>): Promise<object> {
  try {
    return await sums;
  } catch (error) {
    if (!(error instanceof TooMuchWaits)) throw error;
    throw new RequestRefused(429, 'TooManyRequests', 'too many sums of this namespace wait', { 'retry-after': '5' });
  }
}

function limitOf(text: string | null): number {
  if (text === null) return LIMIT;
  const limit = Number(text);
  if (/^\d{1,6}$/.test(text) && limit >= 1 && limit <= LIMIT_MAX) return limit;
  throw new RequestRefused(422, 'Invalid', `limit: is no whole number from 1 to ${LIMIT_MAX}`);
}

function outcomeOf(text: string | null): Outcome | undefined {
  const outcome = OUTCOMES.find((each) => each === text);
  if (text === null || outcome !== undefined) return outcome;
  throw new RequestRefused(422, 'Invalid', `outcome: write one of ${OUTCOMES.join(', ')}`);
}

function timeOf(parameter: string, text: string | null): number | undefined {
  if (text === null) return undefined;
  const ms = parseWireTime(text);
  if (ms !== undefined) return ms;
  throw new RequestRefused(422, 'Invalid', `${parameter}: write a time such as 2026-11-27T08:00:00Z`);
}

const notFound = (message: string): RequestRefused => new RequestRefused(404, 'NotFound', message);

const TEXT = { type: 'string' };
const RECORD = {
  type: 'object',
  required: ['uid', 'namespace', 'name', 'outcome', 'created', 'ended', 'succeeded', 'failed'],
  description: 'A Job that is over; docs/logs.md has its fields.',
  properties: {
    uid: TEXT,
    namespace: TEXT,
    name: TEXT,
    kind: { ...TEXT, description: 'absent: Job' },
    resource: { ...TEXT, description: 'resource and group of a kind other than Job' },
    outcome: { enum: ['Complete', 'Failed', 'Deleted'] },
    reason: TEXT,
    cluster: TEXT,
    submittedBy: { ...TEXT, description: 'the user who submitted it over HTTP' },
    created: { type: 'string', format: 'date-time' },
    ended: { type: 'string', format: 'date-time' },
    succeeded: { type: 'integer' },
    failed: { type: 'integer' },
    copies: { type: 'array', items: { type: 'object' }, description: 'what the pods of each of its copies ended with' },
  },
};
/** Schemas of the OpenAPI document. */
export const HISTORY_SCHEMAS: Readonly<Record<string, object>> = {
  HistoryRecord: RECORD,
  History: { type: 'object', required: ['items'], properties: { items: { type: 'array', items: RECORD } } },
  Usage: {
    type: 'object',
    required: ['by', 'fromMs', 'untilMs', 'rows', 'isPartial'],
    description: 'What ended Jobs used; docs/logs.md has the fields.',
    properties: {
      by: { enum: USAGE_GROUPS },
      fromMs: { type: 'integer' },
      untilMs: { type: 'integer' },
      isPartial: { type: 'boolean', description: 'more Jobs ended than were read: the earliest are missing' },
      rows: {
        type: 'array',
        items: {
          type: 'object',
          required: ['name', 'jobs', 'failed', 'admittedHours', 'hours'],
          properties: {
            name: { ...TEXT, description: 'empty where it is not recorded' },
            jobs: { type: 'integer' },
            failed: { type: 'integer' },
            admittedHours: { type: 'number' },
            hours: {
              type: 'object',
              additionalProperties: { type: 'number' },
              description: 'by resource: of a core, a GiB, a pod, a device',
            },
          },
        },
      },
    },
  },
  LogTail: { type: 'object', required: ['pod', 'cluster', 'log'], properties: { pod: TEXT, cluster: TEXT, log: TEXT } },
};
