import type { DeepReadonly, Pod } from '../../../shared/api/kubernetes.ts';
import { podLogPath } from '../../../shared/kube/pod-log-path.ts';
import type { ClusterConnection } from '../cluster-connection.ts';
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
  readonly stream: ClusterConnection['stream'];
  readonly pod: DeepReadonly<Pod>;
  readonly follow: boolean;
  /** Only the last lines of what is written until now. */
  readonly tail: number | undefined;
  readonly sink: LogSink;
  /** What was read until it aborts is printed. */
  readonly signal: AbortSignal;
};

/** Prints the log of a pod's first container. Resolves with whether there was one. */
export async function printPodLog({ stream: open, pod, follow, tail, sink, signal }: PodLog): Promise<boolean> {
  const { namespace, name } = pod.metadata;
  const container = pod.spec.containers[0]?.name;
  try {
    const stream = await open(podLogPath({ namespace, name }, { container, follow, tailLines: tail }), signal);
    if (stream.status !== 200) {
      await sink.say(`${plain(name)}: ${plain(await messageOf(stream.chunks))}`);
      return false;
    }
    const cutter = lineCutter();
    try {
      for await (const piece of stream.chunks) await sink.write(cutter.take(piece), pod);
    } finally {
      await sink.write(cutter.rest(), pod);
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  }
  return true;
}

/** Of a refusal. */
async function messageOf(chunks: AsyncIterable<string>): Promise<string> {
  for await (const chunk of chunks) return /"message":"((?:[^"\\]|\\.)*)"/.exec(chunk)?.[1] ?? chunk.slice(0, 200);
  return 'no answer';
}
