import type { AdmissionRecord } from '../../api/records.ts';
import type { LoggedJob } from './logged-workload.ts';

/**
 * What the decision log says, one JSON object a line: enough to decide a day again, under the same policy or another one. It tells what admission saw, in the order
 * in which it saw it, and what it decided; who reads it learns names, requests and queues of Jobs, and nothing of what they run.
 *
 * A *section* begins with a `log` line, tells all objects and all Jobs as they are then, and says `whole` when they are told. Sections begin when a manager
 * becomes leader, when the log is rotated, so that each file can be read alone, and where lines were lost.
 */
export type LogLine = LogHead | LogObject | LogGone | LogJob | LogAgain | LogWhole | LogPhase | LogEnd | LogCycle | LogLooked;

/** Raised with every change after which an older `replay` would read something else than was written. */
export const DECISION_LOG_VERSION = 1;

/** Epoch milliseconds, when admission saw or decided it. */
type At = { readonly at: number };

/** The first line of a section. */
export type LogHead = At & {
  readonly kind: 'log';
  readonly version: number;
  readonly because: 'start' | 'rotation' | 'gap';
  /** How many lines were lost before it. */
  readonly dropped?: number;
  readonly settings: LoggedSettings;
};

/** The flags of the manager that decisions depend on. */
export type LoggedSettings = {
  readonly fairSharing?: readonly string[];
  readonly admissionFairSharing?: {
    readonly halfLifeMs: number;
    readonly samplingIntervalMs: number;
    readonly resourceWeights: Readonly<Record<string, number>>;
  };
};

/** An object as it is from now on: kind, name, and what admission reads of it. */
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

/** An object is gone. */
export type LogGone = At & { readonly kind: 'gone'; readonly object: string };

/** A Job that was not told before in this section, or that waits and is another one now: all that is decided on. */
export type LogJob = At & { readonly kind: 'job' } & LoggedJob;

/** A Job that waits was written by somebody, and is queued anew as it was. */
export type LogAgain = At & { readonly kind: 'again'; readonly job: string };

/** All objects and Jobs are told. */
export type LogWhole = At & { readonly kind: 'whole' };

/** An admitted Job goes on otherwise. */
export type LogPhase = At & {
  readonly kind: 'phase';
  readonly job: string;
  /** It is being suspended, and holds what it holds until it waits again (`job`) or ends. */
  readonly phase: 'Admitted' | 'Evicting';
  /** For how many pods it still holds quota, where that changes. */
  readonly needed?: number;
};

/** A Job holds and asks for nothing any more. */
export type LogEnd = At & {
  readonly kind: 'end';
  readonly job: string;
  /** `Undone`: it was admitted, that could not be written, and it waits on. */
  readonly how: 'Finished' | 'Deleted' | 'Undone';
};

/** One scheduling cycle. */
export type LogCycle = At &
  CycleParts & {
    readonly kind: 'cycle';
    /** Its number since this manager leads. */
    readonly cycle: number;
    /** It is the first of a pass: setup and displacements were brought up to date before it. */
    readonly first?: true;
    /** Of how many ClusterQueues the heads could be tried. */
    readonly most: number;
  };
/** What a cycle decided, by what that came to; what came to nothing is left out. */
export type CycleParts = {
  readonly admitted?: readonly LoggedAdmission[];
  readonly preempting?: readonly LoggedPreemption[];
  readonly waiting?: readonly LoggedWaiting[];
  /** Those that fitted until another one of the cycle took the room. */
  readonly again?: readonly string[];
};
export type LoggedAdmission = {
  readonly job: string;
  readonly queue: string;
  readonly cluster: string;
  readonly flavors: AdmissionRecord['flavors'];
  /** With so many pods at once, where these are not all. */
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
  /** Where something is kept for it. */
  readonly claim?: string;
};

/** A pass over the queues is over; told where anything was since the last one. */
export type LogLooked = At & {
  readonly kind: 'looked';
  readonly first?: true;
  /** `idle`: nobody is left to try, or no try would come to more. `busy`: as many writes were under way as may be. */
  readonly because: 'idle' | 'busy';
};

/** Objects by kind and name, in one text. */
export const objectName = ({ kind, metadata: { namespace, name } }: Pick<LoggedObject, 'kind' | 'metadata'>): string =>
  namespace === undefined || namespace === '' ? `${kind} ${name}` : `${kind} ${namespace}/${name}`;

/** A line as it is written. */
export const formatLogLine = (line: LogLine): string => `${JSON.stringify(line)}\n`;
