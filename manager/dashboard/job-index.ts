import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import { parseWireTime } from '../../shared/api/wire-time.ts';
import type { EventHandler } from '../../shared/kube/informer.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { minus, plus, ZERO, type Amount, type Requests } from '../api/amount.ts';
import { writtenRecordOf } from '../api/records.ts';
import { workKey } from '../work-kind/qualified-name.ts';
import type { WorkKind } from '../work-kind/work-kind.ts';
import { amountIn } from './fill.ts';
import { hasEnded, isQueued, jobLine, namespaceOf } from './job-line.ts';
import { earlierOf, type Earlier } from '../api/past-admissions.ts';
import { seesIt, type Seen } from './rights.ts';
import type { JobLine, JobState } from './views.ts';

/** Changes since the last call of {@link JobIndex.takeChanges}. */
export type IndexChanges = {
  /** Lines by key; undefined for a Job that is gone. */
  readonly jobs: ReadonlyMap<string, JobLine | undefined>;
  /** Clusters whose running Jobs, or states of these, have changed. */
  readonly clusters: ReadonlySet<string>;
  /** LocalQueues (`NAMESPACE/NAME`) whose waiting Jobs, or states of these, have changed. */
  readonly localQueues: ReadonlySet<string>;
};

/**
 * All Jobs as lines, indexed by queue, cluster, namespace and age, so that no read scans all of them. Canaries are among the ordered lines
 * alone, and are counted nowhere.
 */
export interface JobIndex {
  readonly handler: EventHandler<Job>;
  get(key: string): JobLine | undefined;
  /** The labels of a Job; none where it is gone. */
  labelsOf(line: JobLine): Readonly<Record<string, string>>;
  /** All Jobs, the latest first. */
  ordered(): readonly JobLine[];
  /** The number of Jobs that wait in a LocalQueue (`NAMESPACE/NAME`), and the first of them. */
  waitingIn(localQueue: string, most: number): Some;
  /** The number of these Jobs by their cause. */
  causesIn(localQueue: string): ReadonlyMap<string, number>;
  /** The number of Jobs of these namespaces on a cluster, and the latest admitted of them. */
  runningOn(cluster: string, namespaces: Seen, most: number): Some;
  /** Jobs of these namespaces that ended last, the latest first. */
  ended(namespaces: Seen, most: number): readonly JobLine[];
  /** The requests of all Jobs on a cluster, by resource. */
  heldOn(cluster: string): Requests;
  /** The requests of all admitted Jobs of a LocalQueue (`NAMESPACE/NAME`), by resource. */
  heldBy(localQueue: string): Requests;
  /** The charge of a Job's admission, also after the Job has ended. */
  requestsOf(key: string): Requests;
  /** The record of a Job before its present admission; undefined: it had no admission before, and no hold. */
  earlierOf(key: string): Earlier | undefined;
  /** Jobs of these namespaces that avoid a cluster for now, with the reason. */
  avoiding(cluster: string, namespaces: Seen, most: number): readonly Avoiding[];
  totals(namespaces: Seen): Readonly<Partial<Record<JobState, number>>>;
  /** Namespaces with Jobs. */
  namespaces(): readonly string[];
  /** Increases with every change. */
  version(): number;
  takeChanges(): IndexChanges;
}
export type Avoiding = { readonly job: string; readonly reason: string; readonly untilMs?: number };
export type Some = { readonly count: number; readonly first: readonly JobLine[] };

type Lines = Map<string, JobLine>;
type Labels = Readonly<Record<string, string>>;
type Entry = { readonly createdMs: number; readonly key: string; line: JobLine | undefined; charge: Charge; labels: Labels };
/** Fields of the record that a line does not have. */
type Charge = {
  readonly requests: Requests;
  readonly avoids: readonly (Omit<Avoiding, 'job'> & { readonly cluster: string })[];
  readonly earlier?: Earlier;
};

const NOTHING: Requests = new Map<string, Amount>();
const NO_CHARGE: Charge = { requests: NOTHING, avoids: [] };
const NO_LABELS: Labels = {};
const NO_CAUSES: ReadonlyMap<string, number> = new Map<string, number>();

/** Ended Jobs kept for one namespace. */
const ENDED_MAX = 24;

export function createJobIndex(kind: WorkKind<Job>): JobIndex {
  return new LiveJobIndex(kind);
}

class LiveJobIndex implements JobIndex {
  readonly handler: EventHandler<Job>;
  readonly #entries = new Map<string, Entry>();
  readonly #waiting = new Map<string, Lines>();
  readonly #causes = new Map<string, Map<string, number>>();
  readonly #running = new Map<string, Map<string, Lines>>();
  readonly #ended = new Map<string, JobLine[]>();
  readonly #counts = new Map<string, Map<JobState, number>>();
  readonly #held = new Map<string, Map<string, Amount>>();
  readonly #heldInQueues = new Map<string, Map<string, Amount>>();
  /** By cluster, then by key of the Job. */
  readonly #avoided = new Map<string, Map<string, Avoiding>>();
  #byAge: Entry[] = [];
  #isSorted = true;
  #lines: readonly JobLine[] | undefined = [];
  #version = 0;
  #changes = noChanges();

  constructor(kind: WorkKind<Job>) {
    const seen = (job: DeepReadonly<Job>): void => this.#put(workKey(job.metadata), jobLine(job, kind), chargeOf(job), job.metadata.labels);
    this.handler = { added: seen, updated: seen, deleted: (job) => this.#put(workKey(job.metadata), undefined) };
  }

  get(key: string): JobLine | undefined {
    return this.#entries.get(key)?.line;
  }

  labelsOf({ key }: JobLine): Labels {
    return this.#entries.get(key)?.labels ?? NO_LABELS;
  }

  ordered(): readonly JobLine[] {
    if (!this.#isSorted) this.#byAge.sort(compareAge);
    this.#isSorted = true;
    if (this.#byAge.length > this.#entries.size) this.#byAge = this.#byAge.filter(({ line }) => line !== undefined);
    this.#lines ??= this.#byAge.toReversed().flatMap(({ line }) => line ?? []);
    return this.#lines;
  }

  waitingIn(localQueue: string, most: number): Some {
    const there = this.#waiting.get(localQueue);
    return { count: there?.size ?? 0, first: there === undefined ? [] : take(there.values(), most) };
  }

  causesIn(localQueue: string): ReadonlyMap<string, number> {
    return this.#causes.get(localQueue) ?? NO_CAUSES;
  }

  runningOn(cluster: string, namespaces: Seen, most: number): Some {
    const there = this.#running.get(cluster) ?? new Map<string, Lines>();
    const visible = namespaces === 'All' ? [...there.values()] : [...namespaces.keys()].flatMap((each) => there.get(each) ?? []);
    const latest = visible.flatMap((each) => [...each.values()].slice(-most));
    return {
      count: visible.reduce((sum, { size }) => sum + size, 0),
      first: latest.toSorted((a, b) => (b.admittedMs ?? 0) - (a.admittedMs ?? 0) || compareText(a.key, b.key)).slice(0, most),
    };
  }

  ended(namespaces: Seen, most: number): readonly JobLine[] {
    const visible =
      namespaces === 'All' ? [...this.#ended.values()] : [...namespaces.keys()].flatMap((each) => [this.#ended.get(each) ?? []]);
    return visible.flat().toSorted(byEnd).slice(0, most);
  }

  heldOn(cluster: string): Requests {
    return this.#held.get(cluster) ?? NOTHING;
  }

  heldBy(localQueue: string): Requests {
    return this.#heldInQueues.get(localQueue) ?? NOTHING;
  }

  requestsOf(key: string): Requests {
    return this.#entries.get(key)?.charge.requests ?? NOTHING;
  }

  earlierOf(key: string): Earlier | undefined {
    return this.#entries.get(key)?.charge.earlier;
  }

  avoiding(cluster: string, namespaces: Seen, most: number): readonly Avoiding[] {
    const found: Avoiding[] = [];
    for (const each of this.#avoided.get(cluster)?.values() ?? []) {
      if (found.length >= most) break;
      if (seesIt(namespaces, namespaceOf({ key: each.job }))) found.push(each);
    }
    return found;
  }

  totals(namespaces: Seen): Readonly<Partial<Record<JobState, number>>> {
    const states: Partial<Record<JobState, number>> = {};
    const visible =
      namespaces === 'All' ? [...this.#counts.values()] : [...namespaces.keys()].flatMap((each) => this.#counts.get(each) ?? []);
    for (const each of visible) for (const [state, number] of each) states[state] = (states[state] ?? 0) + number;
    return states;
  }

  namespaces(): readonly string[] {
    return [...this.#counts.keys()];
  }

  version(): number {
    return this.#version;
  }

  takeChanges(): IndexChanges {
    const taken = this.#changes;
    this.#changes = noChanges();
    return taken;
  }

  #avoid(key: string, { avoids }: Charge, isMore: boolean): void {
    for (const { cluster, ...avoiding } of avoids) {
      const there = this.#avoided.get(cluster) ?? new Map<string, Avoiding>();
      this.#avoided.set(cluster, there);
      if (isMore) there.set(key, { job: key, ...avoiding });
      else there.delete(key);
      if (there.size === 0) this.#avoided.delete(cluster);
    }
  }

  #leave(line: JobLine, charge: Charge, next: JobLine | undefined): void {
    if (line.canary !== true) count(this.#counts, namespaceOf(line), line.state, -1);
    if (!hasEnded(line)) this.#avoid(line.key, charge, false);
    const { cluster, localQueue } = placesOf(line);
    const after = next && placesOf(next);
    if (localQueue !== undefined) {
      this.#changes.localQueues.add(localQueue);
      count(this.#causes, localQueue, line.cause ?? '', -1);
      if (after?.localQueue !== localQueue) removeFrom(this.#waiting, localQueue, line.key);
    }
    if (cluster !== undefined) {
      this.#changes.clusters.add(cluster);
      hold(this.#held, cluster, charge.requests, false);
      if (line.queue !== undefined) hold(this.#heldInQueues, `${namespaceOf(line)}/${line.queue}`, charge.requests, false);
      const namespaces = this.#running.get(cluster);
      if (after?.cluster !== cluster && namespaces !== undefined) {
        removeFrom(namespaces, namespaceOf(line), line.key);
        if (namespaces.size === 0) this.#running.delete(cluster);
      }
    }
    if (hasEnded(line) && (next === undefined || !hasEnded(next))) {
      const namespace = namespaceOf(line);
      const left = (this.#ended.get(namespace) ?? []).filter(({ key }) => key !== line.key);
      if (left.length === 0) this.#ended.delete(namespace);
      else this.#ended.set(namespace, left);
    }
  }

  #enter(line: JobLine, charge: Charge): void {
    const namespace = namespaceOf(line);
    if (line.canary !== true) count(this.#counts, namespace, line.state, 1);
    if (!hasEnded(line)) this.#avoid(line.key, charge, true);
    const { cluster, localQueue } = placesOf(line);
    if (localQueue !== undefined) {
      this.#changes.localQueues.add(localQueue);
      count(this.#causes, localQueue, line.cause ?? '', 1);
      linesOf(this.#waiting, localQueue).set(line.key, line);
    }
    if (cluster !== undefined) {
      this.#changes.clusters.add(cluster);
      hold(this.#held, cluster, charge.requests, true);
      if (line.queue !== undefined) hold(this.#heldInQueues, `${namespace}/${line.queue}`, charge.requests, true);
      const namespaces = this.#running.get(cluster) ?? new Map<string, Lines>();
      this.#running.set(cluster, namespaces);
      linesOf(namespaces, namespace).set(line.key, line);
    }
    if (hasEnded(line) && line.canary !== true) {
      const others = (this.#ended.get(namespace) ?? []).filter(({ key }) => key !== line.key);
      this.#ended.set(namespace, [line, ...others].toSorted(byEnd).slice(0, ENDED_MAX));
    }
  }

  #put(key: string, next: JobLine | undefined, charge: Charge = NO_CHARGE, labels: Labels = NO_LABELS): void {
    const before = this.#entries.get(key);
    const beforeLine = before?.line;
    if (beforeLine === undefined && next === undefined) return;
    this.#version++;
    this.#lines = undefined;
    this.#changes.jobs.set(key, next);
    if (beforeLine !== undefined) this.#leave(beforeLine, before?.charge ?? NO_CHARGE, next);
    if (next !== undefined) this.#enter(next, charge);
    if (before !== undefined && next !== undefined && before.createdMs === next.createdMs) {
      before.line = next;
      before.charge = charge;
      before.labels = labels;
      return;
    }
    if (before !== undefined) before.line = undefined;
    this.#entries.delete(key);
    if (next === undefined) return;
    const entry = { createdMs: next.createdMs, key, line: next, charge, labels };
    this.#entries.set(key, entry);
    const last = this.#byAge.at(-1);
    if (last !== undefined && compareAge(last, entry) > 0) this.#isSorted = false;
    this.#byAge.push(entry);
  }
}

function placesOf(line: JobLine): { readonly cluster?: string; readonly localQueue?: string } {
  if (hasEnded(line) || line.canary === true) return {};
  if (isQueued(line) && line.queue !== undefined) return { localQueue: `${namespaceOf(line)}/${line.queue}` };
  return line.cluster === undefined ? {} : { cluster: line.cluster };
}

/** No charge where the Job has no readable record. */
function chargeOf(job: DeepReadonly<Job>): Charge {
  const written = writtenRecordOf(job);
  const earlier = omitUndefined({ earlier: earlierOf(job, written.kind === 'Record' ? written.record : undefined) });
  if (written.kind !== 'Record') return earlier.earlier === undefined ? NO_CHARGE : { ...NO_CHARGE, ...earlier };
  const { requests, avoid = {} } = written.record;
  return {
    requests: new Map(Object.entries(requests).map(([resource, quantity]) => [resource, amountIn(resource, quantity)])),
    avoids: Object.entries(avoid).map(([cluster, { reason, until }]) => ({
      cluster,
      reason,
      ...omitUndefined({ untilMs: parseWireTime(until) }),
    })),
    ...earlier,
  };
}

const noChanges = () => ({ jobs: new Map<string, JobLine | undefined>(), clusters: new Set<string>(), localQueues: new Set<string>() });

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const compareAge = (a: Entry, b: Entry): number => a.createdMs - b.createdMs || compareText(a.key, b.key);
const byEnd = (a: JobLine, b: JobLine): number => (b.endedMs ?? 0) - (a.endedMs ?? 0) || compareText(a.key, b.key);

/** Adds to a count at a place, which goes where it is nothing. */
function count<K>(places: Map<string, Map<K, number>>, place: string, key: K, by: number): void {
  const there = places.get(place) ?? new Map<K, number>();
  places.set(place, there);
  const next = (there.get(key) ?? 0) + by;
  if (next === 0) there.delete(key);
  else there.set(key, next);
  if (there.size === 0) places.delete(place);
}

/** Adds requests to what is held at a place, or takes them away. */
function hold(places: Map<string, Map<string, Amount>>, place: string, requests: Requests, isMore: boolean): void {
  const there = places.get(place) ?? new Map<string, Amount>();
  places.set(place, there);
  for (const [resource, amount] of requests) {
    const now = there.get(resource) ?? ZERO;
    const next = isMore ? plus(now, amount) : minus(now, amount);
    if (next === ZERO) there.delete(resource);
    else there.set(resource, next);
  }
  if (there.size === 0) places.delete(place);
}

function linesOf(places: Map<string, Lines>, place: string): Lines {
  const lines: Lines = places.get(place) ?? new Map();
  places.set(place, lines);
  return lines;
}

function removeFrom(places: Map<string, Lines>, place: string, key: string): void {
  const lines = places.get(place);
  lines?.delete(key);
  if (lines?.size === 0) places.delete(place);
}

function take(lines: Iterable<JobLine>, most: number): JobLine[] {
  const taken: JobLine[] = [];
  for (const line of lines) {
    if (taken.length >= most) break;
    taken.push(line);
  }
  return taken;
}
