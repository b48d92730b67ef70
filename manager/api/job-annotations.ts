import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import { parseLabelSelector, SelectorSyntaxError, type LabelRequirements } from '../../shared/kube/selectors.ts';
import {
  CARRY_ANNOTATION,
  CLUSTERS_ANNOTATION,
  DATA_ANNOTATION,
  FENCING_ANNOTATION,
  HOLD_ANNOTATION,
  MAX_EXEC_TIME_LABEL,
  MIN_PARALLELISM_ANNOTATION,
  MIN_READY_PODS_ANNOTATION,
  POD_FENCE_ANNOTATION,
  PRIORITY_ANNOTATION,
  QUEUE_NAME_LABEL,
  FLOATING_PREFIX,
  RECOVERY_TIMEOUT_ANNOTATION,
  REQUESTS_ANNOTATION,
  START_TIMEOUT_ANNOTATION,
} from '../../shared/api/names.ts';
import { CARRIED_KINDS, type CarriedKind } from './carried-kinds.ts';
import { parseAmount, type Requests } from './amount.ts';
import { DATA_NAMES_MAX, type DataNames, parseDataNames } from './data-names.ts';
import { parseDurationMs } from './duration.ts';

/**
 * The labels and annotations by which users control a Job: its queue, its priority, its clusters, the time to start there, and to
 * recover, its maximum execution time, its least parallelism, the pods that it needs, its hold, its fences, what travels with it, the data
 * that it reads, and the floating resources that it uses.
 */

type Labelled = DeepReadonly<{ metadata: Pick<Partial<Job['metadata']>, 'labels' | 'annotations'> }>;

export type InvalidWish = { readonly kind: 'Invalid'; readonly problem: string };

/** All settings of a Job in labels and annotations, each read once. */
export type Wishes = {
  readonly priority: Priority;
  readonly clusters: ClusterWish;
  readonly hold: Hold;
  readonly startTimeout: StartTimeout;
  readonly recoveryTimeout: StartTimeout;
  readonly fencing: Fencing;
  readonly podFence: PodFenceWish;
  readonly maxExecution: MaxExecution;
  readonly minParallelism: MinParallelism;
  readonly minReadyPods: MinReadyPods;
  readonly carry: CarryWish;
  readonly data: DataWish;
  readonly requests: RequestsWish;
};

export const wishesOf = (job: Labelled): Wishes => ({
  priority: priorityOf(job),
  clusters: clusterWishOf(job),
  hold: holdOf(job),
  startTimeout: startTimeoutOf(job),
  recoveryTimeout: timeoutOf(job, RECOVERY_TIMEOUT_ANNOTATION),
  fencing: fencingOf(job),
  podFence: podFenceOf(job),
  maxExecution: maxExecutionOf(job),
  minParallelism: minParallelismOf(job),
  minReadyPods: minReadyPodsOf(job),
  carry: carryWishOf(job),
  data: dataWishOf(job),
  requests: requestsWishOf(job),
});

/** The label or annotation of each setting. */
const PLACES: readonly (readonly [keyof Wishes, 'labels' | 'annotations', string])[] = [
  ['priority', 'annotations', PRIORITY_ANNOTATION],
  ['clusters', 'annotations', CLUSTERS_ANNOTATION],
  ['hold', 'annotations', HOLD_ANNOTATION],
  ['startTimeout', 'annotations', START_TIMEOUT_ANNOTATION],
  ['recoveryTimeout', 'annotations', RECOVERY_TIMEOUT_ANNOTATION],
  ['fencing', 'annotations', FENCING_ANNOTATION],
  ['podFence', 'annotations', POD_FENCE_ANNOTATION],
  ['maxExecution', 'labels', MAX_EXEC_TIME_LABEL],
  ['minParallelism', 'annotations', MIN_PARALLELISM_ANNOTATION],
  ['minReadyPods', 'annotations', MIN_READY_PODS_ANNOTATION],
  ['carry', 'annotations', CARRY_ANNOTATION],
  ['data', 'annotations', DATA_ANNOTATION],
  ['requests', 'annotations', REQUESTS_ANNOTATION],
];

/** A malformed setting with its label or annotation; `problem` continues a sentence that begins with its name. */
export type UnreadableWish = { readonly place: 'labels' | 'annotations'; readonly name: string; readonly problem: string };

export const unreadableWishes = (wishes: Wishes): UnreadableWish[] =>
  PLACES.flatMap(([key, place, name]) => {
    const wish = wishes[key];
    return wish.kind === 'Invalid' ? [{ place, name, problem: wish.problem }] : [];
  });

/** Name of the LocalQueue of a Job. Undefined: the manager does not queue the Job. */
export function queueNameOf(job: Labelled): string | undefined {
  const name = job.metadata.labels?.[QUEUE_NAME_LABEL];
  return name === '' ? undefined : name;
}

/** The priority that a Job sets for itself: a 32-bit integer, higher first; undefined: not set. */
export type Priority = { readonly kind: 'Priority'; readonly value: number | undefined } | InvalidWish;

export function priorityOf(job: Labelled): Priority {
  const text = job.metadata.annotations?.[PRIORITY_ANNOTATION];
  if (text === undefined) return { kind: 'Priority', value: undefined };
  const value = Number(text);
  if (!/^-?[0-9]+$/.test(text) || value < -(2 ** 31) || value > 2 ** 31 - 1) {
    return {
      kind: 'Invalid',
      problem: `is ${JSON.stringify(text)}; it must be a 32-bit integer such as "100"`,
    };
  }
  return { kind: 'Priority', value };
}

/** `held`: the Job is to rest. False: the Job is not held, even when a user suspends it; undefined: not set. */
export type Hold = { readonly kind: 'Hold'; readonly held: boolean | undefined } | InvalidWish;

export function holdOf(job: Labelled): Hold {
  const text = job.metadata.annotations?.[HOLD_ANNOTATION];
  if (text === undefined) return { kind: 'Hold', held: undefined };
  if (text === 'true' || text === 'false') return { kind: 'Hold', held: text === 'true' };
  const problem = `is ${JSON.stringify(text)}; it must be "true" or "false", or be removed`;
  return { kind: 'Invalid', problem };
}

/** Milliseconds that a placement may take until it starts, or until it has recovered, 0: any time; undefined: not set. */
export type StartTimeout = { readonly kind: 'StartTimeout'; readonly ms: number | undefined } | InvalidWish;

export const startTimeoutOf = (job: Labelled): StartTimeout => timeoutOf(job, START_TIMEOUT_ANNOTATION);

function timeoutOf(job: Labelled, annotation: string): StartTimeout {
  const text = job.metadata.annotations?.[annotation];
  if (text === undefined) return { kind: 'StartTimeout', ms: undefined };
  const ms = parseDurationMs(text);
  if (ms !== undefined) return { kind: 'StartTimeout', ms };
  const problem = `is ${JSON.stringify(text)}; it must be a duration such as "5m" or "1h30m", or "0s" for no limit`;
  return { kind: 'Invalid', problem };
}

/** Seconds that the Job may be admitted in all, over all its admissions; undefined: without limit. */
export type MaxExecution = { readonly kind: 'MaxExecution'; readonly seconds: number | undefined } | InvalidWish;

export function maxExecutionOf(job: Labelled): MaxExecution {
  const text = job.metadata.labels?.[MAX_EXEC_TIME_LABEL];
  if (text === undefined) return { kind: 'MaxExecution', seconds: undefined };
  const seconds = Number(text);
  if (/^[0-9]+$/.test(text) && seconds >= 1 && seconds <= 2 ** 31 - 1) return { kind: 'MaxExecution', seconds };
  const problem = `is ${JSON.stringify(text)}; it must be a number of seconds from 1 to ${2 ** 31 - 1}, such as "3600"`;
  return { kind: 'Invalid', problem };
}

/** The least number of pods at once with which the Job may be admitted; undefined: its parallelism. */
export type MinParallelism = { readonly kind: 'MinParallelism'; readonly pods: number | undefined } | InvalidWish;

export function minParallelismOf(job: Labelled): MinParallelism {
  const read = podsIn(job, MIN_PARALLELISM_ANNOTATION);
  return read.kind === 'Invalid' ? read : { kind: 'MinParallelism', pods: read.pods };
}

/** The number of ready pods with which the Job has started, and which it needs from then on; undefined: not set. */
export type MinReadyPods = { readonly kind: 'MinReadyPods'; readonly pods: number | undefined } | InvalidWish;

export function minReadyPodsOf(job: Labelled): MinReadyPods {
  const read = podsIn(job, MIN_READY_PODS_ANNOTATION);
  return read.kind === 'Invalid' ? read : { kind: 'MinReadyPods', pods: read.pods };
}

function podsIn(job: Labelled, annotation: string): { readonly kind: 'Pods'; readonly pods: number | undefined } | InvalidWish {
  const text = job.metadata.annotations?.[annotation];
  if (text === undefined) return { kind: 'Pods', pods: undefined };
  const pods = Number(text);
  if (/^[0-9]{1,10}$/.test(text) && pods >= 1) return { kind: 'Pods', pods };
  return { kind: 'Invalid', problem: `is ${JSON.stringify(text)}; it must be a number of pods from 1 on, such as "4"` };
}

/** `fenced`: whether the copy is stopped when its manager is out of reach; undefined: not set. */
export type Fencing = { readonly kind: 'Fencing'; readonly fenced: boolean | undefined } | InvalidWish;

export function fencingOf(job: Labelled): Fencing {
  const told = onOrOff(job, FENCING_ANNOTATION);
  return told.kind === 'Invalid' ? told : { kind: 'Fencing', fenced: told.on };
}

/** `fenced`: whether its pods end by themselves when their renewals stop; undefined: not set. */
export type PodFenceWish = { readonly kind: 'PodFence'; readonly fenced: boolean | undefined } | InvalidWish;

export function podFenceOf(job: Labelled): PodFenceWish {
  const told = onOrOff(job, POD_FENCE_ANNOTATION);
  return told.kind === 'Invalid' ? told : { kind: 'PodFence', fenced: told.on };
}

/** The objects that travel with the Job; undefined: its LocalQueue or ClusterQueue decides. */
export type CarryWish = { readonly kind: 'Carry'; readonly kinds: readonly CarriedKind[] | undefined } | InvalidWish;

export function carryWishOf(job: Labelled): CarryWish {
  const text = job.metadata.annotations?.[CARRY_ANNOTATION];
  if (text === undefined) return { kind: 'Carry', kinds: undefined };
  const words = text.split(',').map((word) => word.trim());
  if (words.length === 1 && words[0] === 'None') return { kind: 'Carry', kinds: [] };
  const kinds = CARRIED_KINDS.filter((kind) => words.includes(kind));
  if (kinds.length === words.length) return { kind: 'Carry', kinds };
  const problem = `is ${JSON.stringify(text)}; it must be "ConfigMaps", "Secrets", "ConfigMaps,Secrets" or "None"`;
  return { kind: 'Invalid', problem };
}

/** The data sets that the Job reads; undefined: it names none. */
export type DataWish = { readonly kind: 'Data'; readonly names: DataNames | undefined } | InvalidWish;

export function dataWishOf(job: Labelled): DataWish {
  const text = job.metadata.annotations?.[DATA_ANNOTATION];
  const names = text === undefined ? undefined : parseDataNames(text);
  if (text === undefined || names !== undefined) return { kind: 'Data', names };
  const problem =
    `is ${JSON.stringify(text)}; it must name at most ${DATA_NAMES_MAX} data sets, each once, ` +
    'with ! before those that the cluster must have, such as "imagenet" or "!corpus,imagenet"';
  return { kind: 'Invalid', problem };
}

/** Resources of no node that each pod uses: licences, connections. Names have {@link FLOATING_PREFIX}. */
export type RequestsWish = { readonly kind: 'Requests'; readonly perPod: Requests } | InvalidWish;

const FLOATING_MAX = 16;
const FLOATING_REQUEST = /^([a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?)=([0-9]{1,9})$/;

export function requestsWishOf(job: Labelled): RequestsWish {
  const text = job.metadata.annotations?.[REQUESTS_ANNOTATION];
  if (text === undefined) return { kind: 'Requests', perPod: new Map() };
  const parts = text.split(',').map((part) => FLOATING_REQUEST.exec(part.trim()));
  const perPod: Requests = new Map(
    parts.flatMap((match) => {
      const resource = `${FLOATING_PREFIX}${match?.[1] ?? ''}`;
      return match === null ? [] : [[resource, parseAmount(resource, match[3] ?? '')] as const];
    }),
  );
  if (perPod.size === parts.length && parts.length <= FLOATING_MAX) return { kind: 'Requests', perPod };
  const problem = `is ${JSON.stringify(text)}; it must name at most ${FLOATING_MAX} resources, each once, with whole numbers, such as "matlab=1,db-connections=10"`;
  return { kind: 'Invalid', problem };
}

function onOrOff(job: Labelled, annotation: string): { readonly kind: 'Told'; readonly on: boolean | undefined } | InvalidWish {
  const text = job.metadata.annotations?.[annotation];
  if (text === undefined || text === 'on' || text === 'off') return { kind: 'Told', on: text === undefined ? undefined : text === 'on' };
  return { kind: 'Invalid', problem: `is ${JSON.stringify(text)}; it must be "on" or "off", or be removed` };
}

export type ClusterWish =
  | { readonly kind: 'Any' }
  | { readonly kind: 'Names'; readonly names: readonly string[] }
  /** A label selector for the labels of WorkerClusters. */
  | { readonly kind: 'Selector'; readonly requirements: LabelRequirements }
  | InvalidWish;

const CLUSTER_NAME = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;

/**
 * The clusters a Job may run on. A comma-separated list of plain words is a list of names (`eu-1, us-2`); anything else is a label
 * selector (`region=eu`, `region in (eu, us), !spot`).
 */
export function clusterWishOf(job: Labelled): ClusterWish {
  const text = job.metadata.annotations?.[CLUSTERS_ANNOTATION]?.trim();
  if (text === undefined) return { kind: 'Any' };
  if (text === '') return invalidClusters('is empty; name clusters or give a label selector, or remove it');
  const words = text.split(',').map((word) => word.trim());
  if (words.every((word) => CLUSTER_NAME.test(word))) return { kind: 'Names', names: words };
  try {
    return { kind: 'Selector', requirements: parseLabelSelector(text) };
  } catch (error) {
    if (!(error instanceof SelectorSyntaxError)) throw error;
    return invalidClusters(`is neither a list of cluster names nor a label selector: ${error.message}`);
  }
}

const invalidClusters = (problem: string): ClusterWish => ({ kind: 'Invalid', problem });
