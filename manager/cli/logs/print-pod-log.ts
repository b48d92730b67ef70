import type { DeepReadonly, Pod } from '../../../shared/api/kubernetes.ts';
import { ApiError } from '../../../shared/kube/api-error.ts';
import type { StreamClient } from '../../../shared/kube/client.ts';
import { podLogPath } from '../../../shared/kube/pod-log-path.ts';
import { plain } from '../plain-text.ts';
import { lineCutter } from './log-lines.ts';

/** Where lines of logs go. */
export interface LogSink {
  /** Whole lines of a pod, or parts of one that is very long. */
  write(text: string, pod: DeepReadonly<Pod>): Promise<void>;
  /** For people: why there is none. */
  say(line: string): Promise<void>;
}

export type PodLog = {
  readonly client: StreamClient;
  readonly pod: DeepReadonly<Pod>;
  readonly follow: boolean;
  /** Only the last lines of what is written until now. */
  readonly tail: number | undefined;
  readonly sink: LogSink;
  /** What was read until it aborts is printed. */
  readonly signal: AbortSignal;
};

/** Prints the log of a pod's first container. Resolves with whether there was one. */
export async function printPodLog({ client, pod, follow, tail, sink, signal }: PodLog): Promise<boolean> {
  const { namespace, name } = pod.metadata;
  const container = pod.spec.containers[0]?.name;
  try {
    const chunks = await client.stream(podLogPath({ namespace, name }, { container, follow, tailLines: tail }), { signal });
    const cutter = lineCutter();
    try {
      for await (const piece of chunks) await sink.write(cutter.take(piece), pod);
    } finally {
      await sink.write(cutter.rest(), pod);
    }
  } catch (error) {
    if (error instanceof ApiError) {
      await sink.say(`${plain(name)}: ${plain(error.message)}`);
      return false;
    }
    if (!signal.aborted) throw error;
  }
  return true;
}
