import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import { KEEP_LOGS_LABEL, ORIGIN_LABEL } from '../../shared/api/names.ts';
import { apiVersionOf, isOfKind, JOBS } from '../../shared/api/resources.ts';
import type { PodView } from '../job/pod-view.ts';

/** Of which pods the end of the log is kept. */
export const KEEP_LOGS = ['Failed', 'All', 'None'] as const;
export type KeepLogs = (typeof KEEP_LOGS)[number];

/** Pods of one Job whose logs are read: of so many that failed, of so many others, and of some more when it comes to its end. */
const FAILED_MAX = 40;
const OTHERS_MAX = 40;
const AT_END_MAX = 10;

/** What has been read of a Job. */
export type TailCounts = { readonly failed: number; readonly others: number };

/** A Job, or an object of another kind, as far as its logs are concerned. Jobs of a cache have no `apiVersion` and `kind`. */
export type KeptCopy = DeepReadonly<Pick<Job, 'apiVersion' | 'kind' | 'metadata'>>;

const JOB_VERSION = apiVersionOf(JOBS);

/** The apiVersion and kind of an object that is no Job; undefined for a Job. */
export const otherKindOf = ({ apiVersion = JOB_VERSION, kind = JOBS.kind }: Pick<KeptCopy, 'apiVersion' | 'kind'>): string | undefined =>
  isOfKind(JOBS, { apiVersion, kind }) ? undefined : `${apiVersion} ${kind}`;

/** Its copy on a worker cluster is all that is looked at: nobody would fetch the tails of other Jobs. */
export const isCopy = ({ metadata }: KeptCopy): boolean => metadata.labels?.[ORIGIN_LABEL] !== undefined;

/** The Job's own word, else that of the worker. Words that mean nothing are no word. */
export function keepLogsOf({ metadata }: KeptCopy, otherwise: KeepLogs): KeepLogs {
  const said = metadata.labels?.[KEEP_LOGS_LABEL];
  return KEEP_LOGS.find((each) => each === said) ?? otherwise;
}

/** Whether the tail of this pod's log is wanted; `ends`: the Job fails with it. */
export function wantsTail(pod: PodView, keep: KeepLogs, read: TailCounts, ends: boolean): boolean {
  if (keep === 'None' || !hasLog(pod)) return false;
  if (!pod.succeeded) return read.failed < FAILED_MAX + (ends ? AT_END_MAX : 0);
  return keep === 'All' && read.others < OTHERS_MAX;
}

/** A pod of which no container has run has written nothing. */
const hasLog = ({ pod: { spec, status } }: PodView): boolean =>
  (spec.nodeName ?? '') !== '' && (status?.containerStatuses?.some(({ state }) => state?.terminated ?? state?.running) ?? false);
