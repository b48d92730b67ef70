import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { namespaceOf } from './job-line.ts';
import { seesIt, type Seen } from './rights.ts';
import { sortedInParts } from './sorted-in-parts.ts';
import type { JobLine, JobPage, JobState } from './views.ts';

/** A query of the table of Jobs: filter, order and page. */
export type JobQuery = {
  readonly states: ReadonlySet<string>;
  readonly namespace?: string;
  readonly queue?: string;
  readonly clusterQueue?: string;
  readonly cluster?: string;
  readonly user?: string;
  readonly reason?: string;
  readonly cause?: string;
  /** `Job`, or another kind. */
  readonly kind?: string;
  /** Without a value: any value. */
  readonly label?: { readonly name: string; readonly value?: string };
  /** Canaries as well. */
  readonly canaries: boolean;
  /** Part of the name or of the message. */
  readonly text?: string;
  readonly order: JobOrder;
  readonly isReversed: boolean;
  readonly group?: JobGroup;
  readonly offset: number;
  readonly limit: number;
};

export const JOB_STATES: readonly JobState[] = ['Waiting', 'NeverFits', 'Held', 'Dispatching', 'Running', 'Resting', 'Complete', 'Failed'];
const ORDERS = ['created', 'name', 'state', 'cluster', 'queue', 'ended'] as const;
export type JobOrder = (typeof ORDERS)[number];
/** `label`: by the value of the label in the filter. */
const GROUPS = ['state', 'queue', 'cluster', 'namespace', 'user', 'reason', 'cause', 'clusterQueue', 'kind', 'label'] as const;
export type JobGroup = (typeof GROUPS)[number];

const LIMIT = 100;
const LIMIT_MAX = 500;
const GROUPS_MAX = 500;
/** The longest label: prefix, name and value. */
const TEXT_LENGTH_MAX = 253 + 1 + 63 + 1 + 63;

/** What the line of a Job leaves out. */
export type JobLookups = {
  readonly labelsOf: (line: JobLine) => Readonly<Record<string, string>>;
  /** The ClusterQueue that a LocalQueue (namespace/name) leads to: Jobs that wait have no record that names it. */
  readonly clusterQueueOf: (localQueue: string) => string | undefined;
};

/** The query of a URL, or the problem with it. */
export function parseJobQuery(parameters: URLSearchParams): JobQuery | { readonly problem: string } {
  const one = (name: string): string | undefined => parameters.get(name)?.slice(0, TEXT_LENGTH_MAX) || undefined;
  const order = one('order') ?? '-created';
  const field = ORDERS.find((each) => each === order.replace(/^-/, ''));
  if (field === undefined) return { problem: `order: is none of ${ORDERS.join(', ')}, or one of these after a minus sign` };
  const groupBy = one('group');
  const group = GROUPS.find((each) => each === groupBy);
  if (groupBy !== undefined && group === undefined) return { problem: `group: is none of ${GROUPS.join(', ')}` };
  const [labelName = '', ...labelValue] = one('label')?.split('=') ?? [];
  if (group === 'label' && labelName === '') return { problem: 'group: label needs label=NAME, by which label' };
  const whole = (name: string, fallback: number, most: number): number | undefined => {
    const text = one(name);
    if (text === undefined) return fallback;
    return /^\d{1,9}$/.test(text) && Number(text) <= most ? Number(text) : undefined;
  };
  const offset = whole('offset', 0, Number.MAX_SAFE_INTEGER);
  const limit = whole('limit', LIMIT, LIMIT_MAX);
  if (offset === undefined) return { problem: 'offset: is no whole number' };
  if (limit === undefined) return { problem: `limit: is no whole number up to ${LIMIT_MAX}` };
  return {
    states: new Set((one('state') ?? '').split(',').filter((each) => each !== '')),
    canaries: one('canaries') !== undefined,
    order: field,
    isReversed: order.startsWith('-'),
    offset,
    limit,
    ...omitUndefined({
      namespace: one('namespace'),
      queue: one('queue'),
      clusterQueue: one('clusterQueue'),
      cluster: one('cluster'),
      user: one('user'),
      reason: one('reason'),
      cause: one('cause'),
      kind: one('kind'),
      text: one('text')?.toLowerCase(),
      label: labelName === '' ? undefined : { name: labelName, ...(labelValue.length > 0 && { value: labelValue.join('=') }) },
      group,
    }),
  };
}

/** The whole result of a query, of which pages are parts. */
export type FoundJobs = { readonly jobs: readonly JobLine[]; readonly groups?: NonNullable<JobPage['groups']> };

/** Lines scanned in one step. */
const PART = 1_000;

/** The key of a result: equal for queries that differ in the page alone. */
export function foundKey({ offset: _offset, limit: _limit, states, ...query }: JobQuery): string {
  return JSON.stringify([[...states].toSorted(), Object.entries(query).toSorted(([a], [b]) => (a < b ? -1 : 1))]);
}

/** Finds the Jobs of a query among `lines`, which come with the latest first. Yields between steps. */
export function* findJobs(
  lines: readonly JobLine[],
  query: JobQuery,
  namespaces: Seen,
  lookups: JobLookups,
): Generator<undefined, FoundJobs> {
  const found: JobLine[] = [];
  for (let from = 0; from < lines.length; from += PART) {
    for (const line of lines.slice(from, from + PART)) if (isFound(line, query, namespaces, lookups)) found.push(line);
    yield;
  }
  const jobs = yield* inOrder(found, query);
  return { jobs, ...omitUndefined({ groups: query.group && (yield* groupsOf(found, valueIn(query.group, query, lookups))) }) };
}

export const pageOf = ({ jobs, groups }: FoundJobs, { offset, limit }: JobQuery): JobPage => ({
  total: jobs.length,
  offset,
  jobs: jobs.slice(offset, offset + limit),
  ...omitUndefined({ groups }),
});

const valueIn =
  (group: JobGroup, { label }: JobQuery, lookups: JobLookups) =>
  (line: JobLine): string | undefined => {
    if (group === 'label') return label && lookups.labelsOf(line)[label.name];
    if (group === 'namespace') return namespaceOf(line);
    if (group === 'kind') return kindOf(line);
    return group === 'clusterQueue' ? clusterQueueOf(line, lookups) : line[group];
  };

const clusterQueueOf = (line: JobLine, lookups: JobLookups): string | undefined =>
  line.clusterQueue ?? (line.queue === undefined ? undefined : lookups.clusterQueueOf(`${namespaceOf(line)}/${line.queue}`));

const kindOf = ({ kind = 'Job' }: JobLine): string => kind;

export function isFound(line: JobLine, query: JobQuery, namespaces: Seen, lookups: JobLookups): boolean {
  const { states, namespace, queue, clusterQueue, cluster, user, reason, cause, kind, canaries, label, text } = query;
  return (
    (canaries || line.canary !== true) &&
    (states.size === 0 || states.has(line.state)) &&
    (namespaces === 'All' || seesIt(namespaces, namespaceOf(line))) &&
    (namespace === undefined || namespaceOf(line) === namespace) &&
    (queue === undefined || line.queue === queue) &&
    (clusterQueue === undefined || clusterQueueOf(line, lookups) === clusterQueue) &&
    (cluster === undefined || line.cluster === cluster) &&
    (user === undefined || line.user === user) &&
    (reason === undefined || line.reason === reason) &&
    (cause === undefined || line.cause === cause) &&
    (kind === undefined || kindOf(line) === kind) &&
    (label === undefined || hasLabel(lookups.labelsOf(line), label)) &&
    (text === undefined || line.key.toLowerCase().includes(text) || line.why?.toLowerCase().includes(text) === true)
  );
}

const hasLabel = (labels: Readonly<Record<string, string>>, { name, value }: NonNullable<JobQuery['label']>): boolean =>
  Object.hasOwn(labels, name) && (value === undefined || labels[name] === value);

function* inOrder(lines: readonly JobLine[], { order, isReversed }: JobQuery): Generator<undefined, readonly JobLine[]> {
  if (order === 'created') return isReversed ? lines : lines.toReversed();
  const value = VALUES[order];
  const sign = isReversed ? -1 : 1;
  // Equal lines keep their order: the latest first.
  return yield* sortedInParts(lines, (a, b) => {
    const [x, y] = [value(a), value(b)];
    return x === y ? 0 : x < y ? -sign : sign;
  });
}

const VALUES: Readonly<Record<Exclude<JobOrder, 'created'>, (line: JobLine) => string | number>> = {
  name: ({ key }) => key,
  state: ({ state }) => JOB_STATES.indexOf(state),
  cluster: ({ cluster = '' }) => cluster,
  queue: ({ clusterQueue, queue = '' }) => clusterQueue ?? queue,
  ended: ({ endedMs = 0 }) => endedMs,
};

function* groupsOf(
  lines: readonly JobLine[],
  valueOf: (line: JobLine) => string | undefined,
): Generator<undefined, NonNullable<JobPage['groups']>> {
  const counts = new Map<string, number>();
  for (const [number, line] of lines.entries()) {
    if (number % PART === PART - 1) yield;
    const key = valueOf(line) ?? '';
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return [...counts]
    .map(([key, count]) => ({ key, count }))
    .toSorted((a, b) => b.count - a.count || (a.key < b.key ? -1 : 1))
    .slice(0, GROUPS_MAX);
}
