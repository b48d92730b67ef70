import { isJsonObject, parseJson } from './json-value.ts';

/** The ConfigMap of the manager's namespace in which the leader describes the shared queue of submissions for all replicas. */
export const SHARED_SUBMISSIONS = 'switchyard-shared-submissions';

/** The shared queue of submissions, as its leader last described it. Times are epoch milliseconds. */
export type SharedSubmissions = {
  /** BullMQ's prefix and name of the queue. */
  readonly prefix: string;
  readonly queue: string;
  /** Submissions in Redis that nobody has taken up yet; absent if Redis does not say. */
  readonly backlog?: number;
  /** When the oldest of these was put on the queue; absent if there are none. */
  readonly oldestMs?: number;
  /** Submissions whose Jobs have not ended. */
  readonly parked: number;
  /** Since the manager leads. */
  readonly accepted: number;
  readonly refused: number;
  /** The last problem of Redis; absent if none is known. */
  readonly redis?: RedisProblem;
  /** The submissions that were refused last, the latest first. */
  readonly refusals: readonly RefusedSubmission[];
};

/** A problem of the Redis of submissions; without an end while it lasts. `works`: submissions are taken all the same. */
export type RedisProblem = {
  readonly reason: string;
  readonly message: string;
  readonly works: boolean;
  readonly sinceMs: number;
  readonly untilMs?: number;
};

/** A submission of which no Job was made, without its manifest. */
export type RefusedSubmission = {
  /** BullMQ's id. */
  readonly id: string;
  readonly atMs: number;
  /** The namespace of its manifest, and that of the queue if it names none; absent if it cannot be read. */
  readonly namespace?: string;
  /** The UID of that namespace, as another namespace may get the name; absent if there was none. */
  readonly namespaceUid?: string;
  /** The name in its manifest, or its beginning for a generated one. */
  readonly name?: string;
  readonly reason: string;
  readonly message: string;
};

/** Refused submissions that are kept. */
export const REFUSALS_MAX = 50;

type Data = Readonly<Record<string, string>>;
const FIGURES = 'figures';
const REFUSALS = 'refusals';

/** The data of the ConfigMap. What changes seldom stands apart from what changes with each submission. */
export const formatSharedSubmissions = ({ refusals, ...figures }: SharedSubmissions): Data => ({
  [FIGURES]: JSON.stringify(figures),
  [REFUSALS]: JSON.stringify(refusals.slice(0, REFUSALS_MAX)),
});

/** Undefined if the data is malformed. A malformed refusal is left out. */
export function parseSharedSubmissions(data: Data | undefined): SharedSubmissions | undefined {
  const figures = parseJson(data?.[FIGURES] ?? '');
  if (!isJsonObject(figures) || !hasStrings(figures, 'prefix', 'queue') || !hasNumbers(figures, 'parked', 'accepted', 'refused'))
    return undefined;
  const refusals = parseJson(data?.[REFUSALS] ?? '');
  const { redis, ...rest } = figures;
  // The strings and numbers that are always there were found above.
  return {
    ...(rest as unknown as Omit<SharedSubmissions, 'refusals' | 'redis'>),
    ...(isRedisProblem(redis) && { redis }),
    refusals: Array.isArray(refusals) ? refusals.filter(isRefusal).slice(0, REFUSALS_MAX) : [],
  };
}

type Fields = Readonly<Record<string, unknown>>;
const hasStrings = (value: Fields, ...names: readonly string[]): boolean => names.every((name) => typeof value[name] === 'string');
const hasNumbers = (value: Fields, ...names: readonly string[]): boolean => names.every((name) => Number.isFinite(value[name]));

const isRedisProblem = (value: unknown): value is RedisProblem =>
  isJsonObject(value) && hasStrings(value, 'reason', 'message') && hasNumbers(value, 'sinceMs') && typeof value['works'] === 'boolean';

const isRefusal = (value: unknown): value is RefusedSubmission =>
  isJsonObject(value) && hasStrings(value, 'id', 'reason', 'message') && hasNumbers(value, 'atMs');
