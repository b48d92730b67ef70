import { isOfShape } from '../../api/job-shape.ts';
import { AvoidedReason } from '../../api/reasons.ts';
import type { AdmissionRecord } from '../../api/records.ts';
import { backoffMs, FORGOTTEN_AFTER_MS, wordsFor } from './avoidance.ts';
import type { Workload } from './workload.ts';

/**
 * What clusters have done to Jobs, by shape. If a cluster refuses or does not start a Job, all Jobs of that shape avoid the cluster for a
 * while that doubles each time. Then one of them goes as the probe, and the others wait for its outcome or go elsewhere. State is in memory
 * and learned from the records of Jobs, so a new manager knows it once it has observed them.
 */
export interface ShapeAvoidance {
  /** Observes a Job and its record. True if other Jobs of its shape may be placed differently now. */
  observe(workload: Workload, nowMs: number): boolean;
  /** A Workload is placed by this record: it becomes the probe if one is due. */
  placed(workload: Workload, record: AdmissionRecord): void;
  /** The Workload is no longer placed. True if other Jobs waited for its outcome. */
  released(workload: Pick<Workload, 'key' | 'shape'>): boolean;
  /** Why no Job of this shape goes to a cluster now; undefined if one may. `untilMs` is absent while a probe is placed. */
  of(shape: string, cluster: string, nowMs: number): { readonly untilMs?: number; readonly problem: string } | undefined;
  /** How long a Job avoids the cluster of this failed placement. `refusals`: its own consecutive refusals, this one included. */
  next(shape: string, record: AdmissionRecord, refusals: number, nowMs: number): { readonly untilMs: number; readonly level: number };
  /** Why the cluster of a placement has refused another Job of this shape since this placement; undefined if it has not. */
  refusedMeanwhile(shape: string, record: AdmissionRecord): string | undefined;
  /** A fork for one scheduling cycle, invisible elsewhere. `trials`: clusters that single Jobs probe, with the Job placed there now. */
  fork(trials?: ReadonlyMap<string, string | undefined>): ShapesOfCycle;
  /** Whether anything is known of the shape: then Workloads of one queue with different shapes are in different classes. */
  knows(shape: string): boolean;
}

export type ShapesOfCycle = {
  readonly of: ShapeAvoidance['of'];
  /** A Job of this shape is placed on this cluster: it is the probe if others wait for one. */
  readonly goes: (shape: string, cluster: string) => void;
  /** A fork that starts with what is known here. */
  readonly fork: () => ShapesOfCycle;
};

type Entry = {
  readonly untilMs: number;
  readonly reason: string;
  readonly level: number;
  /** Key of the Job that probes the cluster. */
  readonly probe?: string;
  /** A Job has started there since: earlier failures do not count. */
  readonly cleared?: true;
};

export function createShapeAvoidance(): ShapeAvoidance {
  return new Shapes();
}

class Shapes implements ShapeAvoidance {
  /** By shape and cluster. */
  readonly #shapes = new Map<string, Map<string, Entry>>();

  observe(workload: Workload, nowMs: number): boolean {
    const { record, phase } = workload;
    const isPlaced = record !== undefined && (phase === 'Admitted' || (phase === 'Finished' && workload.started));
    const placed = isPlaced && this.knows(workload.shape) && this.#place(workload, record, nowMs);
    const released = !isPlaced && this.knows(workload.shape) && this.released(workload);
    const learned = this.#learn(workload, nowMs);
    return placed || released || learned;
  }

  placed(workload: Workload, record: AdmissionRecord): void {
    this.#place({ ...workload, started: false }, record, 0);
  }

  released({ key, shape }: Pick<Workload, 'key' | 'shape'>): boolean {
    let released = false;
    for (const [cluster, { probe, ...entry }] of this.#shapes.get(shape) ?? []) {
      if (probe !== key) continue;
      this.#set(shape, cluster, entry);
      released = true;
    }
    return released;
  }

  of(shape: string, cluster: string, nowMs: number): { readonly untilMs?: number; readonly problem: string } | undefined {
    const entry = this.#entry(shape, cluster);
    if (entry === undefined || entry.cleared === true) return undefined;
    const { untilMs, probe, reason } = entry;
    if (nowMs < untilMs) return { untilMs, problem: wordsFor('Jobs like this one', reason, untilMs) };
    return probe === undefined ? undefined : { problem: isTried(probe, reason) };
  }

  fork(trials: ReadonlyMap<string, string | undefined> = new Map()): ShapesOfCycle {
    return this.#forkOf(trials, new Set());
  }

  next(
    shape: string,
    { cluster, since }: AdmissionRecord,
    refusals: number,
    nowMs: number,
  ): { readonly untilMs: number; readonly level: number } {
    const entry = this.#entry(shape, cluster);
    if (entry === undefined || entry.cleared === true) return { level: refusals, untilMs: nowMs + backoffMs(refusals) };
    // A Job that was already on its way when the first failed adds no information.
    const isProbe = Date.parse(since) >= entry.untilMs;
    const level = Math.max(refusals, entry.level + (isProbe ? 1 : 0));
    return { level, untilMs: !isProbe && entry.untilMs > nowMs ? entry.untilMs : nowMs + backoffMs(level) };
  }

  refusedMeanwhile(shape: string, { cluster, since }: AdmissionRecord): string | undefined {
    const entry = this.#entry(shape, cluster);
    const isMeant = entry !== undefined && entry.cleared !== true && entry.reason !== AvoidedReason.NotStarted;
    return isMeant && Date.parse(since) < entry.untilMs ? entry.reason : undefined;
  }

  knows(shape: string): boolean {
    return this.#shapes.has(shape);
  }

  #entry(shape: string, cluster: string): Entry | undefined {
    return this.#shapes.get(shape)?.get(cluster);
  }

  #set(shape: string, cluster: string, entry: Entry): void {
    const entries = this.#shapes.get(shape) ?? new Map<string, Entry>();
    this.#shapes.set(shape, entries.set(cluster, entry));
  }

  #prune(nowMs: number): void {
    for (const [shape, entries] of this.#shapes) {
      for (const [cluster, { untilMs }] of entries) if (nowMs >= untilMs + FORGOTTEN_AFTER_MS) entries.delete(cluster);
      if (entries.size === 0) this.#shapes.delete(shape);
    }
  }

  #learn({ shape, record }: Workload, nowMs: number): boolean {
    let changed = false;
    for (const [cluster, avoided] of Object.entries(record?.avoid ?? {})) {
      if (!isOfShape(avoided.reason)) continue;
      const { reason, level = avoided.refusals } = avoided;
      const untilMs = Date.parse(avoided.until);
      const known = this.#entry(shape, cluster);
      const isOld = nowMs >= untilMs + FORGOTTEN_AFTER_MS || (known !== undefined && untilMs <= known.untilMs);
      // Of two Jobs placed at the same time, one may have started and the other not.
      if (isOld || (known?.cleared === true && untilMs - backoffMs(level) <= known.untilMs)) continue;
      this.#set(shape, cluster, { untilMs, reason, level });
      changed = true;
    }
    if (changed) this.#prune(nowMs);
    return changed;
  }

  /** True if other Jobs may be placed now. */
  #place({ key, shape, started }: Workload, { cluster, since }: AdmissionRecord, nowMs: number): boolean {
    const entry = this.#entry(shape, cluster);
    if (entry === undefined || entry.cleared === true || Date.parse(since) < entry.untilMs) return false;
    if (started) this.#set(shape, cluster, { ...entry, untilMs: nowMs, cleared: true });
    else if (entry.probe === undefined) this.#set(shape, cluster, { ...entry, probe: key });
    return started;
  }

  #forkOf(trials: ReadonlyMap<string, string | undefined>, placed: ReadonlySet<string>): ShapesOfCycle {
    const gone = new Set(placed);
    const tried = new Map(trials);
    return {
      of: (shape, cluster, nowMs) => {
        const by = tried.get(cluster);
        if (by !== undefined) return { problem: `was in trouble, and is tried by ${by} first` };
        const problem = this.of(shape, cluster, nowMs);
        if (problem !== undefined || gone.size === 0 || !gone.has(`${shape} ${cluster}`)) return problem;
        return { problem: isTried('another', this.#entry(shape, cluster)?.reason ?? '') };
      },
      goes: (shape, cluster) => {
        if (tried.has(cluster)) tried.set(cluster, 'another');
        const entry = this.#entry(shape, cluster);
        if (entry !== undefined && entry.cleared !== true) gone.add(`${shape} ${cluster}`);
      },
      fork: () => this.#forkOf(tried, gone),
    };
  }
}

const isTried = (whom: string, reason: string): string => `failed Jobs like this one (${reason}), and is tried by ${whom} first`;
