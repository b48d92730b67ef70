import type { ObjectKey } from '../api/kubernetes.ts';
import { PODS } from '../api/resources.ts';
import { pathTo, queryString } from './request-path.ts';

/** Which part of a log (PodLogOptions). */
export type PodLogPart = {
  /** Absent: the only one. */
  readonly container?: string | undefined;
  /** What is written from now on, too, until the container ends. */
  readonly follow?: boolean;
  /** Each line begins with when it was written, in RFC 3339 with nanoseconds, and a space. */
  readonly timestamps?: boolean;
  /** Only the last lines of what is written until now. */
  readonly tailLines?: number | undefined;
  /** Only what was written then or later: an API server takes whole seconds of it. */
  readonly sinceTime?: string | undefined;
  readonly limitBytes?: number;
};

/** Where a pod's log is read. */
export function podLogPath({ namespace, name }: ObjectKey, { follow, timestamps, ...part }: PodLogPart): string {
  const query = { ...part, follow: follow === true ? 'true' : undefined, timestamps: timestamps === true ? 'true' : undefined };
  return `${pathTo(PODS, namespace, name)}/log${queryString(query)}`;
}
