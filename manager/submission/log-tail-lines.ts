import { gunzipSync } from 'node:zlib';
import type { EndedPod } from '../../shared/api/ended-pods.ts';
import type { ConfigMap, DeepReadonly } from '../../shared/api/kubernetes.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { failedPodMessage } from '../api/last-failure.ts';
import { sanitizeText } from '../api/sanitize-text.ts';

/** Of one copy, the latest; each is a line of BullMQ's log, of which a submission keeps a hundred. */
const PODS_MAX = 5;
const LINES_MAX = 20;
const LINE_LENGTH_MAX = 500;
/** A worker keeps 256 KiB at most; a bomb is not unpacked. */
const UNPACKED_BYTES_MAX = 1024 * 1024;

/** Pods of which an end of the log is kept, as many as are told. */
export const reportedTails = (pods: readonly EndedPod[]): readonly EndedPod[] => pods.filter(({ tail }) => tail === true).slice(-PODS_MAX);

/** What a submitter is told of the logs of these pods. What stands there was written by pods, or by whoever may write on their cluster. */
export function logTailLines(pods: readonly EndedPod[], cluster: string, map: DeepReadonly<ConfigMap> | undefined): readonly string[] {
  return pods.flatMap((pod) => {
    const lines = lastLines(map?.binaryData?.[pod.pod]);
    return lines.length === 0 ? [] : [[`${how(pod, cluster)}; the end of its log:`, ...lines].join('\n')];
  });
}

/** What it said last is among the lines that follow. */
function how({ pod, phase, index, exitCode, reason }: EndedPod, cluster: string): string {
  return phase === 'Succeeded' ? `pod ${pod} succeeded` : failedPodMessage({ pod, cluster, ...omitUndefined({ index, exitCode, reason }) });
}

function lastLines(text: unknown): readonly string[] {
  if (typeof text !== 'string') return [];
  let log: string;
  try {
    log = gunzipSync(Buffer.from(text, 'base64'), { maxOutputLength: UNPACKED_BYTES_MAX }).toString();
  } catch {
    // It is none of a worker's.
    return [];
  }
  const lines = log.split('\n').map((line) => sanitizeText(line, LINE_LENGTH_MAX).trimEnd());
  return lines.filter((line) => line !== '').slice(-LINES_MAX);
}
