import type { DeepReadonly, WorkObject } from '../../../shared/api/kubernetes.ts';
import { controllerOf } from '../../../shared/kube/controller-of.ts';
import { finishedCondition } from '../../../shared/kube/conditions.ts';
import { maxExecutionOf } from '../../api/job-annotations.ts';
import type { AdmissionRecord } from '../../api/records.ts';
import type { WorkKind } from '../../work-kind/work-kind.ts';

/**
 * How long Jobs have held their quota, by ClusterQueue and within it by family. State is in memory, and bounded to the newest runs. It is
 * learned from ended Jobs that still exist, so a new manager knows it without any further record.
 */
export interface RunTimes {
  observe(run: Run): void;
  /** The history of the family if enough of it have ended, else of its ClusterQueue, else of all Jobs. Undefined if none has ended. */
  of(clusterQueue: string, family: string): History | undefined;
}

/** One Job, from its last admission to its end, whatever its result. */
export type Run = { readonly clusterQueue: string; readonly family: string; readonly ranMs: number; readonly endedMs: number };

/** Observed runs, the shortest first, of a family, of a ClusterQueue, or of all Jobs. */
export type History = {
  readonly clusterQueue?: string;
  readonly family?: string;
  readonly runs: readonly { readonly ranMs: number; readonly weight: number }[];
};

/** The number of runs kept for a ClusterQueue and for all, for a family, and the number of families. */
const RUNS_MAX = 256;
const FAMILY_RUNS_MAX = 48;
const FAMILIES_MAX = 2_048;
/** With fewer runs, the history of the ClusterQueue is better than that of the family. */
const FAMILY_RUNS_MIN = 8;
/** After this many later runs a run has half its weight, because workloads change over time. */
const HALF_WEIGHT_AFTER = 128;

export function createRunTimes(): RunTimes {
  const all = createRecent({}, RUNS_MAX);
  const queues = new Map<string, Recent>();
  /** Families in the order of their last end. */
  const families = new Map<string, Recent>();
  return {
    observe: (run) => {
      const { clusterQueue, family } = run;
      const key = familyKey(clusterQueue, family);
      const own = queues.get(clusterQueue) ?? createRecent({ clusterQueue }, RUNS_MAX);
      const like = families.get(key) ?? createRecent({ clusterQueue, family }, FAMILY_RUNS_MAX);
      queues.set(clusterQueue, own);
      families.delete(key);
      families.set(key, like);
      if (families.size > FAMILIES_MAX) families.delete(families.keys().next().value ?? '');
      for (const recent of [all, own, like]) recent.add(run);
    },
    of: (clusterQueue, family) => {
      const like = families.get(familyKey(clusterQueue, family));
      if (like !== undefined && like.size() >= FAMILY_RUNS_MIN) return like.history();
      const known = queues.get(clusterQueue) ?? all;
      return known.size() === 0 ? undefined : known.history();
    },
  };
}

const familyKey = (clusterQueue: string, family: string): string => `${clusterQueue} ${family}`;

/** The latest runs. */
type Recent = { add(run: Run): void; size(): number; history(): History };

function createRecent(of: Omit<History, 'runs'>, most: number): Recent {
  /** Runs in the order of their ends. */
  const runs: Run[] = [];
  let sorted: History | undefined;
  return {
    add: (run) => {
      let place = runs.length;
      while (place > 0 && (runs[place - 1]?.endedMs ?? 0) > run.endedMs) place--;
      if (place === 0 && runs.length === most) return;
      runs.splice(place, 0, run);
      if (runs.length > most) runs.shift();
      sorted = undefined;
    },
    size: () => runs.length,
    history: () => (sorted ??= { ...of, runs: weighted(runs) }),
  };
}

const weighted = (runs: readonly Run[]): History['runs'] =>
  runs
    .map(({ ranMs }, index) => ({ ranMs, weight: 2 ** (-(runs.length - 1 - index) / HALF_WEIGHT_AFTER) }))
    .toSorted((a, b) => a.ranMs - b.ranMs);

/** How long an ended Job held its quota by this record; undefined if it has not ended, or held none then. */
export function runOf(kind: WorkKind, job: DeepReadonly<WorkObject>, record: AdmissionRecord | undefined): Run | undefined {
  const ended = finishedCondition(job.status);
  if (ended === undefined || record === undefined || record.evicted === true || record.checks !== undefined) return undefined;
  const endedMs = Date.parse(kind.progress(job).completionTime ?? ended.lastTransitionTime ?? '');
  const ranMs = endedMs - Date.parse(record.since);
  return ranMs >= 0 ? { clusterQueue: record.clusterQueue, family: familyOf(job), ranMs, endedMs } : undefined;
}

/** Facts about a Job before it runs. */
export type RunFacts = {
  readonly family: string;
  /** The longest time that the Job may hold its quota after an admission, in milliseconds; undefined: unlimited. */
  longestMs(record: AdmissionRecord | undefined): number | undefined;
};

export const runFactsOf = (kind: WorkKind, job: DeepReadonly<WorkObject>): RunFacts => ({
  family: familyOf(job),
  longestMs: (record) => longestOf(kind, job, record),
});

/** The limit from the Job's deadline, which counts from its start, and from its maximum execution time. */
function longestOf(kind: WorkKind, job: DeepReadonly<WorkObject>, record: AdmissionRecord | undefined): number | undefined {
  const deadline = kind.deadlineSeconds(job);
  const { startTime } = kind.progress(job);
  const beforeMs = record === undefined || startTime === undefined ? 0 : Math.max(0, Date.parse(startTime) - Date.parse(record.since)) || 0;
  const execution = maxExecutionOf(job);
  const seconds = execution.kind === 'MaxExecution' ? execution.seconds : undefined;
  const bounds = [
    ...(deadline !== undefined ? [beforeMs + deadline * 1000] : []),
    ...(seconds === undefined ? [] : [Math.max(0, seconds - (record?.executedSeconds ?? 0)) * 1000]),
  ];
  return bounds.length === 0 ? undefined : Math.min(...bounds);
}

/** Jobs of one family probably run about equally long: those of one controller, or those whose names differ only in a number. */
export function familyOf({ metadata }: DeepReadonly<Pick<WorkObject, 'metadata'>>): string {
  const { namespace, name, generateName } = metadata;
  const owner = controllerOf({ metadata });
  if (owner !== undefined) return `${namespace}/${owner.kind}/${owner.name}`;
  return `${namespace}/${generateName || name.replace(/(?:[-.]?[0-9]+)+$/, '') || name}`;
}
