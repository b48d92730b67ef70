import { parseEndedPods, type EndedPod } from '../../shared/api/ended-pods.ts';
import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import { ENDED_PODS_ANNOTATION, LAST_FAILURE_ANNOTATION } from '../../shared/api/names.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { isJsonObject, parseJson } from './json-value.ts';
import { sanitizeText } from './sanitize-text.ts';

type Annotated = DeepReadonly<{ metadata: Pick<Partial<Job['metadata']>, 'annotations'> }>;

/** The endings of a copy's pods as its worker cluster reports them, sanitized. */
export const sanitizedEndedPods = ({ metadata }: Annotated): readonly EndedPod[] =>
  parseEndedPods(metadata.annotations?.[ENDED_PODS_ANNOTATION]).map((pod) => {
    const texts = Object.entries(pod).map(([name, value]) => [name, typeof value === 'string' ? sanitizeText(value) : value]);
    return { ...pod, ...Object.fromEntries(texts) };
  });

/** The failure of a Job, as stored on the Job itself. */
export type LastFailure = Pick<EndedPod, 'pod' | 'index' | 'exitCode' | 'reason' | 'message' | 'lastLine'> & { readonly cluster: string };

/** The failure of the last pod of a copy that failed, or was stopped where none did; undefined when none is known. */
export function lastFailureOf(copy: Annotated, cluster: string): LastFailure | undefined {
  const pods = sanitizedEndedPods(copy);
  const failed = pods.findLast(({ phase }) => phase === 'Failed') ?? pods.findLast(({ phase }) => phase !== 'Succeeded');
  if (failed === undefined) return undefined;
  const { pod, index, exitCode, reason, message, lastLine } = failed;
  return { pod, cluster, ...omitUndefined({ index, exitCode, reason, message, lastLine }) };
}

/** The failure on a Job of the manager cluster, where it is well-formed. */
export function readLastFailure({ metadata }: Annotated): LastFailure | undefined {
  const text = metadata.annotations?.[LAST_FAILURE_ANNOTATION];
  const value = text === undefined ? undefined : parseJson(text);
  if (!isJsonObject(value)) return undefined;
  const { cluster } = value;
  // The value is an ended pod with the name of a cluster.
  const [pod] = parseEndedPods(JSON.stringify([{ ...value, phase: 'Failed' }]));
  if (pod === undefined || typeof cluster !== 'string') return undefined;
  const { phase: _phase, ...rest } = pod;
  return { ...rest, cluster };
}

/** `pod sum-x of index 3 on cluster "east" ended with exit code 3 (OOMKilled): last line`. */
export const failureMessage = (failure: LastFailure): string => messageOf(failure, ` on cluster "${failure.cluster}"`);

/** The same without the cluster. */
export const failedPodMessage = (failure: LastFailure): string => messageOf(failure, '');

function messageOf({ pod, index, exitCode, reason, message, lastLine }: LastFailure, where: string): string {
  const which = index === undefined ? '' : ` of index ${index}`;
  const how = exitCode === undefined ? (reason ?? 'was stopped') : `ended with exit code ${exitCode}`;
  const why = exitCode === undefined || reason === undefined || reason === 'Error' ? '' : ` (${reason})`;
  const said = lastLine ?? message;
  return `pod ${pod}${which}${where} ${how}${why}${said === undefined ? '' : `: ${said}`}`;
}
