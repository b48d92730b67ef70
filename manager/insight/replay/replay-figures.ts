import { parseAmount, parseRequests } from '../../api/amount.ts';
import { isJsonObject } from '../../api/json-value.ts';
import type { LoggedObject } from '../../admission/decision-log/decision-log.ts';
import type { History } from './logged-history.ts';
import type { DatedCycle, JobStory, Replayed } from './replay.ts';

/** Figures of the Jobs of one ClusterQueue. Times in milliseconds. */
export type QueueFigures = {
  /** Undefined for Jobs whose LocalQueue has no ClusterQueue. */
  readonly queue: string | undefined;
  readonly jobs: number;
  /** Jobs that were admitted at least once. */
  readonly admitted: number;
  /** Admissions that were preempted. */
  readonly preempted: number;
  /** Jobs that were not admitted by the end. */
  readonly waiting: number;
  readonly done: number;
  /** Times from arrival to first admission of admitted Jobs; absent if there are none. */
  readonly waits?: { readonly p50: number; readonly p90: number; readonly p99: number };
  /** The average used fraction of the nominal quota, for the flavor and resource with the highest one; absent without quota. */
  readonly used?: { readonly resource: string; readonly part: number };
  /** From the first arrival to the last end; absent if no Job ended. */
  readonly makespan?: number;
};

/** Figures by ClusterQueue, in order of name. `objects`: the setup, for nominal quota. */
export function figuresOf(
  { stories }: Replayed,
  { startMs, endMs }: Pick<History, 'startMs' | 'endMs'>,
  objects: readonly LoggedObject[],
): QueueFigures[] {
  const byQueue = new Map<string | undefined, JobStory[]>();
  for (const story of stories) byQueue.set(story.queue, [...(byQueue.get(story.queue) ?? []), story]);
  const quotas = nominalQuotas(objects);
  return [...byQueue]
    .toSorted(([a = '~'], [b = '~']) => (a < b ? -1 : 1))
    .map(([queue, own]) => {
      const waits = own.flatMap((story) => waitOf(story) ?? []).toSorted((a, b) => a - b);
      const ends = own.flatMap(({ doneMs }) => doneMs ?? []);
      const used = quotas.get(queue ?? '');
      const most = used && mostUsed(own, used, startMs, endMs);
      return {
        queue,
        jobs: own.length,
        admitted: own.filter(({ placements }) => placements.length > 0).length,
        preempted: own.reduce((sum, { preempted }) => sum + preempted, 0),
        waiting: own.filter(({ placements, leftMs }) => placements.length === 0 && leftMs === undefined).length,
        done: ends.length,
        ...(waits.length === 0 ? {} : { waits: { p50: quantile(waits, 0.5), p90: quantile(waits, 0.9), p99: quantile(waits, 0.99) } }),
        ...(most === undefined ? {} : { used: most }),
        ...(ends.length === 0 ? {} : { makespan: Math.max(...ends) - Math.min(...own.map(({ life }) => life.seenMs)) }),
      };
    });
}

/** The wait of a Job; unknown if it held a placement when the log began. */
function waitOf({ life, placements }: JobStory): number | undefined {
  const [first] = placements;
  if (first === undefined || life.told.phase !== 'Pending') return undefined;
  return Math.max(0, first.fromMs - (life.isOld ? life.told.created : life.seenMs));
}

/** The nearest rank. */
const quantile = (sorted: readonly number[], part: number): number => sorted[Math.max(0, Math.ceil(sorted.length * part) - 1)] ?? 0;

function mostUsed(
  stories: readonly JobStory[],
  nominal: ReadonlyMap<string, number>,
  startMs: number,
  endMs: number,
): QueueFigures['used'] {
  const held = new Map<string, number>();
  for (const { fromMs, toMs = endMs, record } of stories.flatMap(({ placements }) => placements)) {
    const lastedMs = Math.min(toMs, endMs) - Math.max(fromMs, startMs);
    if (lastedMs <= 0) continue;
    for (const [resource, amount] of parseRequests(record.charged ?? record.requests)) {
      const name = `${record.flavors[resource] ?? ''}/${resource}`;
      held.set(name, (held.get(name) ?? 0) + amount * lastedMs);
    }
  }
  let most: QueueFigures['used'];
  for (const [resource, quota] of nominal) {
    const part = (held.get(resource) ?? 0) / (quota * Math.max(1, endMs - startMs));
    if (quota > 0 && (most === undefined || part > most.part)) most = { resource, part };
  }
  return most;
}

/** Nominal quotas by ClusterQueue, then by `flavor/resource`. */
function nominalQuotas(objects: readonly LoggedObject[]): ReadonlyMap<string, ReadonlyMap<string, number>> {
  const quotas = new Map<string, ReadonlyMap<string, number>>();
  for (const { kind, metadata, ['spec']: spec } of objects) {
    if (kind !== 'ClusterQueue' || !isJsonObject(spec)) continue;
    const found = listIn(spec['resourceGroups']).flatMap((group) =>
      listIn(group['flavors']).flatMap((flavor) =>
        listIn(flavor['resources']).map(({ name, nominalQuota }): [string, number] => [
          `${String(flavor['name'])}/${String(name)}`,
          parseAmount(String(name), nominalQuota as string | number),
        ]),
      ),
    );
    quotas.set(metadata.name, new Map(found));
  }
  return quotas;
}

const listIn = (value: unknown): readonly Readonly<Record<string, unknown>>[] => (Array.isArray(value) ? value.filter(isJsonObject) : []);

/** How far a replay agrees with the log: the number of equal cycles from the first on, and the first that differs. */
export type Agreement = {
  readonly cycles: number;
  readonly of: number;
  readonly first?: { readonly atMs: number; readonly logged: string; readonly replayed: string };
};

export function agreementOf(logged: readonly DatedCycle[], replayed: readonly DatedCycle[]): Agreement {
  const length = Math.max(logged.length, replayed.length);
  for (let index = 0; index < length; index++) {
    const [before, now] = [logged[index], replayed[index]];
    if (JSON.stringify(sorted(before)) === JSON.stringify(sorted(now))) continue;
    const atMs = Math.min(before?.atMs ?? Number.POSITIVE_INFINITY, now?.atMs ?? Number.POSITIVE_INFINITY);
    return { cycles: index, of: logged.length, first: { atMs, logged: describeCycle(before, atMs), replayed: describeCycle(now, atMs) } };
  }
  return { cycles: logged.length, of: logged.length };
}

/** The fields in a fixed order, because a log may have another. */
const sorted = (cycle: DatedCycle | undefined): unknown =>
  cycle && [cycle.atMs, cycle.admitted ?? [], cycle.preempting ?? [], cycle.waiting ?? [], cycle.again ?? []];

function describeCycle(cycle: DatedCycle | undefined, atMs: number): string {
  if (cycle === undefined || cycle.atMs > atMs) return 'nobody is tried';
  const { admitted = [], preempting = [], waiting = [], again = [] } = cycle;
  return [
    ...admitted.map(({ job, cluster, flavors }) => `${job} goes to ${cluster} (${[...new Set(Object.values(flavors))].join(', ')})`),
    ...preempting.map(({ job, victims }) => `${job} preempts ${victims.map((victim) => victim.job).join(', ')}`),
    ...waiting.map(({ job, reason, claim }) => `${job} waits (${reason}${claim === undefined ? '' : `, for ${claim}`})`),
    ...again.map((job) => `${job} is tried again`),
  ].join('; ');
}

/** The last setup of a log, with some objects replaced. */
export function lastSetup(
  { steps }: Pick<History, 'steps'>,
  instead: readonly LoggedObject[],
  nameOf: (object: LoggedObject) => string,
): readonly LoggedObject[] {
  const objects = new Map<string, LoggedObject>();
  for (const step of steps) {
    if (step.kind === 'Object') objects.set(nameOf(step.object), step.object);
    // A deleted object counts, because its quota existed for part of the time.
  }
  for (const object of instead) objects.set(nameOf(object), object);
  return [...objects.values()];
}
