import type { PlacementPolicy } from '../../api/cluster-queue.ts';
import type { AdmissionRecord } from '../../api/records.ts';
import type { LoggedJob, LoggedPods } from './logged-workload.ts';

/**
 * The lines of the decision log, one JSON object each: enough to decide a day again, under the same policy or another one. They hold what
 * admission observed, in that order, and what it decided. A reader learns names, requests and queues of Jobs, and nothing of what they run.
 *
 * A *section* begins with a `log` line, lists all objects and Jobs as they are then, and ends the list with `whole`. Sections begin when a
 * manager becomes leader, when the log is rotated, so that each file can be read alone, and after lost lines.
 */
export type LogLine = LogHead | LogObject | LogGone | LogJob | LogAgain | LogWhole | LogPhase | LogEnd | LogCycle | LogLooked;

/** Incremented with every change that an older `replay` would misread. */
export const DECISION_LOG_VERSION = 1;

/** Epoch milliseconds of the observation or decision. */
type At = { readonly at: number };

/** The first line of a section. */
export type LogHead = At & {
  readonly kind: 'log';
  readonly version: number;
  readonly because: 'start' | 'rotation' | 'gap';
  /** The number of lines lost before the section. */
  readonly dropped?: number;
  readonly settings: LoggedSettings;
};

/** The manager's flags that decisions depend on. */
export type LoggedSettings = {
  readonly fairSharing?: readonly string[];
  /** Absent in logs of managers that spread all Jobs. */
  readonly defaultPlacement?: PlacementPolicy;
  readonly admissionFairSharing?: {
    readonly halfLifeMs: number;
    readonly samplingIntervalMs: number;
    readonly resourceWeights: Readonly<Record<string, number>>;
  };
};

/** An object from now on: kind, name, and what admission reads of it. */
export type LogObject = At & { readonly kind: 'object'; readonly object: LoggedObject };
export type LoggedObject = {
  readonly kind: SetupKind;
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: Readonly<Record<string, string>> };
} & Readonly<Record<string, unknown>>;
/** The kinds that decisions depend on. */
export const SETUP_KINDS = [
  'ClusterQueue',
  'Cohort',
  'LocalQueue',
  'ResourceFlavor',
  'WorkerCluster',
  'WorkloadPriorityClass',
  'PriorityClass',
  'Namespace',
] as const;
export type SetupKind = (typeof SETUP_KINDS)[number];

/** An object was deleted. */
export type LogGone = At & { readonly kind: 'gone'; readonly object: string };

/** A Job that is new in this section, or a pending Job that has changed: all inputs of decisions. */
export type LogJob = At & { readonly kind: 'job' } & LoggedJob;

/** A pending Job was written without a relevant change, and is queued again. */
export type LogAgain = At & { readonly kind: 'again'; readonly job: string };

/** All objects and Jobs are listed. */
export type LogWhole = At & { readonly kind: 'whole' };

/** An admitted Job has changed its state. */
export type LogPhase = At & {
  readonly kind: 'phase';
  readonly job: string;
  /** `Evicting`: the Job is being suspended, and holds its quota until it is pending again (`job`) or ends. */
  readonly phase: 'Admitted' | 'Evicting';
  /** The number of pods for which it still holds quota, if that changes. */
  readonly needed?: LoggedPods;
  /** Its pods are not ready, and its ClusterQueue admits nothing meanwhile. */
  readonly starting?: true;
};

/** A Job holds and requests nothing any more. */
export type LogEnd = At & {
  readonly kind: 'end';
  readonly job: string;
  /** `Undone`: the admission could not be written, and the Job is pending again. */
  readonly how: 'Finished' | 'Deleted' | 'Undone';
};

/** One scheduling cycle. */
export type LogCycle = At &
  CycleParts & {
    readonly kind: 'cycle';
    /** Its number since this manager leads. */
    readonly cycle: number;
    /** The cycle is the first of a pass: setup and planned evictions were updated before it. */
    readonly first?: true;
    /** The number of ClusterQueues whose heads could be nominated. */
    readonly most: number;
  };
/** The decisions of a cycle by outcome; empty outcomes are omitted. */
export type CycleParts = {
  readonly admitted?: readonly LoggedAdmission[];
  readonly preempting?: readonly LoggedPreemption[];
  readonly waiting?: readonly LoggedWaiting[];
  /** Jobs that fitted until another Job of the cycle took the capacity. */
  readonly again?: readonly string[];
};
export type LoggedAdmission = {
  readonly job: string;
  readonly queue: string;
  readonly cluster: string;
  readonly flavors: AdmissionRecord['flavors'];
  /** Flavors of each pod set by name, where there are several. */
  readonly podSets?: Readonly<Record<string, AdmissionRecord['flavors']>>;
  /** The number of pods at once in a partial admission. */
  readonly pods?: number;
};
export type LoggedPreemption = {
  readonly job: string;
  readonly queue: string;
  readonly cluster: string;
  readonly victims: readonly { readonly job: string; readonly rule: string }[];
};
export type LoggedWaiting = {
  readonly job: string;
  readonly queue: string;
  readonly reason: string;
  readonly waitsFor: string;
  /** The cluster of the Job's claim. */
  readonly claim?: string;
};

/** A pass over the queues has ended; logged if anything was logged since the previous one. */
export type LogLooked = At & {
  readonly kind: 'looked';
  readonly first?: true;
  /** `idle`: no head is left, or no cycle would change anything. `busy`: the limit of writes in flight is reached. */
  readonly because: 'idle' | 'busy';
};

/** The name of an object: kind and name in one text. */
export const objectName = ({ kind, metadata: { namespace, name } }: Pick<LoggedObject, 'kind' | 'metadata'>): string =>
  namespace === undefined || namespace === '' ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;

/** Formats a line. */
export const formatLogLine = (line: LogLine): string => `${JSON.stringify(line)}\n`;
