import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import { parseLabelSelector, SelectorSyntaxError, type LabelRequirements } from '../../shared/kube/selectors.ts';
import {
  CLUSTERS_ANNOTATION,
  FENCING_ANNOTATION,
  HOLD_ANNOTATION,
  MAX_EXEC_TIME_LABEL,
  MIN_PARALLELISM_ANNOTATION,
  POD_FENCE_ANNOTATION,
  PRIORITY_ANNOTATION,
  QUEUE_NAME_LABEL,
  START_TIMEOUT_ANNOTATION,
} from '../../shared/api/names.ts';
import { parseDurationMs } from './duration.ts';

/**
 * What users say about a Job in its labels and annotations: its queue, its priority, where it may run and how soon it must start there, how
 * long it may run in all, with how few pods, whether it is to rest, whether it is fenced, and whether its pods are.
 */

type Labelled = DeepReadonly<{ metadata: Pick<Partial<Job['metadata']>, 'labels' | 'annotations'> }>;

export type InvalidWish = { readonly kind: 'Invalid'; readonly problem: string };

/** All that a Job says about how it is to be run, each read once. */
export type Wishes = {
  readonly priority: Priority;
  readonly clusters: ClusterWish;
  readonly hold: Hold;
  readonly startTimeout: StartTimeout;
  readonly fencing: Fencing;
  readonly podFence: PodFenceWish;
  readonly maxExecution: MaxExecution;
  readonly minParallelism: MinParallelism;
};

export const wishesOf = (job: Labelled): Wishes => ({
  priority: priorityOf(job),
  clusters: clusterWishOf(job),
  hold: holdOf(job),
  startTimeout: startTimeoutOf(job),
  fencing: fencingOf(job),
  podFence: podFenceOf(job),
  maxExecution: maxExecutionOf(job),
  minParallelism: minParallelismOf(job),
});

/** Where each wish stands. */
const PLACES: readonly (readonly [keyof Wishes, 'labels' | 'annotations', string])[] = [
  ['priority', 'annotations', PRIORITY_ANNOTATION],
  ['clusters', 'annotations', CLUSTERS_ANNOTATION],
  ['hold', 'annotations', HOLD_ANNOTATION],
  ['startTimeout', 'annotations', START_TIMEOUT_ANNOTATION],
  ['fencing', 'annotations', FENCING_ANNOTATION],
  ['podFence', 'annotations', POD_FENCE_ANNOTATION],
  ['maxExecution', 'labels', MAX_EXEC_TIME_LABEL],
  ['minParallelism', 'annotations', MIN_PARALLELISM_ANNOTATION],
];

/** A wish that cannot be read, and where it stands; `problem` goes on where the name of the label or annotation stands. */
export type UnreadableWish = { readonly place: 'labels' | 'annotations'; readonly name: string; readonly problem: string };

export const unreadableWishes = (wishes: Wishes): UnreadableWish[] =>
  PLACES.flatMap(([key, place, name]) => {
    const wish = wishes[key];
    return wish.kind === 'Invalid' ? [{ place, name, problem: wish.problem }] : [];
  });

/** Name of the LocalQueue that a Job is submitted to. Undefined: not ours to run. */
export function queueNameOf(job: Labelled): string | undefined {
  const name = job.metadata.labels?.[QUEUE_NAME_LABEL];
  return name === '' ? undefined : name;
}

/** The number by which a Job itself asks for its place: a 32-bit integer, higher first; undefined: nothing is said. */
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

/** `held`: it is to rest. False: it is not, also where somebody suspends it; undefined: nothing is said. */
export type Hold = { readonly kind: 'Hold'; readonly held: boolean | undefined } | InvalidWish;

export function holdOf(job: Labelled): Hold {
  const text = job.metadata.annotations?.[HOLD_ANNOTATION];
  if (text === undefined) return { kind: 'Hold', held: undefined };
  if (text === 'true' || text === 'false') return { kind: 'Hold', held: text === 'true' };
  const problem = `is ${JSON.stringify(text)}; it must be "true" or "false", or be removed`;
  return { kind: 'Invalid', problem };
}

/** Milliseconds that a placement may take until it starts, 0: any time; undefined: nothing is said. */
export type StartTimeout = { readonly kind: 'StartTimeout'; readonly ms: number | undefined } | InvalidWish;

export function startTimeoutOf(job: Labelled): StartTimeout {
  const text = job.metadata.annotations?.[START_TIMEOUT_ANNOTATION];
  if (text === undefined) return { kind: 'StartTimeout', ms: undefined };
  const ms = parseDurationMs(text);
  if (ms !== undefined) return { kind: 'StartTimeout', ms };
  const problem = `is ${JSON.stringify(text)}; it must be a duration such as "5m" or "1h30m", or "0s" for no limit`;
  return { kind: 'Invalid', problem };
}

/** For how many seconds in all it may be admitted, over all its admissions; undefined: for ever. */
export type MaxExecution = { readonly kind: 'MaxExecution'; readonly seconds: number | undefined } | InvalidWish;

export function maxExecutionOf(job: Labelled): MaxExecution {
  const text = job.metadata.labels?.[MAX_EXEC_TIME_LABEL];
  if (text === undefined) return { kind: 'MaxExecution', seconds: undefined };
  const seconds = Number(text);
  if (/^[0-9]+$/.test(text) && seconds >= 1 && seconds <= 2 ** 31 - 1) return { kind: 'MaxExecution', seconds };
  const problem = `is ${JSON.stringify(text)}; it must be a number of seconds from 1 to ${2 ** 31 - 1}, such as "3600"`;
  return { kind: 'Invalid', problem };
}

/** With how few pods at once it may be admitted; undefined: with no fewer than it asks for. */
export type MinParallelism = { readonly kind: 'MinParallelism'; readonly pods: number | undefined } | InvalidWish;

export function minParallelismOf(job: Labelled): MinParallelism {
  const text = job.metadata.annotations?.[MIN_PARALLELISM_ANNOTATION];
  if (text === undefined) return { kind: 'MinParallelism', pods: undefined };
  const pods = Number(text);
  if (/^[0-9]{1,10}$/.test(text) && pods >= 1) return { kind: 'MinParallelism', pods };
  return { kind: 'Invalid', problem: `is ${JSON.stringify(text)}; it must be a number of pods from 1 on, such as "4"` };
}

/** `fenced`: whether its copy is stopped where its manager is out of reach; undefined: nothing is said. */
export type Fencing = { readonly kind: 'Fencing'; readonly fenced: boolean | undefined } | InvalidWish;

export function fencingOf(job: Labelled): Fencing {
  const told = onOrOff(job, FENCING_ANNOTATION);
  return told.kind === 'Invalid' ? told : { kind: 'Fencing', fenced: told.on };
}

/** `fenced`: whether its pods end by themselves where nobody renews them; undefined: nothing is said. */
export type PodFenceWish = { readonly kind: 'PodFence'; readonly fenced: boolean | undefined } | InvalidWish;

export function podFenceOf(job: Labelled): PodFenceWish {
  const told = onOrOff(job, POD_FENCE_ANNOTATION);
  return told.kind === 'Invalid' ? told : { kind: 'PodFence', fenced: told.on };
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
