import { closeSync, existsSync, fstatSync, openSync, readdirSync, readSync } from 'node:fs';
import { dirname } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import type { Pod } from '../../../api/kubernetes.ts';
import type { Clock } from '../../../runtime/clock.ts';
import type { StreamSink } from '../../request/answer.ts';
import type { PodLogSource } from '../../subresources/pod-log.ts';
import type { PodLogOptions } from '../../subresources/pod-log-options.ts';
import { badRequest } from '../../apimachinery/status-error.ts';
import type { AnyObject } from '../../apimachinery/object.ts';
import { containerFiles } from './pod-directory.ts';

const FOLLOW_PERIOD_MS = 200;
const CHUNK_BYTES = 64 * 1024;

/** Logs of containers from the files that {@link createProcessContainers} leaves. Timestamps and sinceSeconds are not kept there. */
export function createPodLogFiles(root: string, clock: Clock, isRunning: (uid: string, container: string) => boolean): PodLogSource {
  return {
    open(pod, options, sink) {
      const file = logFile(root, pod, options);
      if (file === undefined) {
        if (isRunning(pod.metadata.uid, options.container)) refuseBeforeStart(pod, options.container);
        return undefined;
      }
      return stream(file, options, sink, clock, () => isRunning(pod.metadata.uid, options.container));
    },
  };
}

/** What a kubelet says of a container that has not run yet. One that runs without a log is an imagined one. */
function refuseBeforeStart(pod: AnyObject, container: string): void {
  const { containerStatuses = [], initContainerStatuses = [] } = (pod['status'] ?? {}) as NonNullable<Pod['status']>;
  const { running, terminated, waiting } =
    [...initContainerStatuses, ...containerStatuses].find(({ name }) => name === container)?.state ?? {};
  if (running !== undefined || terminated !== undefined) return;
  const reason = waiting?.reason ?? 'ContainerCreating';
  throw badRequest(`container ${JSON.stringify(container)} in pod ${JSON.stringify(pod.metadata.name)} is waiting to start: ${reason}`);
}

/** The log of the container's last run, or of the one before with `previous`. */
function logFile(root: string, pod: AnyObject, { container, previous }: PodLogOptions): string | undefined {
  const named = { metadata: { ...pod.metadata } };
  const directory = dirname(containerFiles(root, named, container, 0).log);
  if (!existsSync(directory)) return undefined;
  const runs = readdirSync(directory)
    .flatMap((name) => /^(\d+)\.log$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => b - a);
  const run = runs[previous ? 1 : 0];
  if (run === undefined) {
    if (!previous) return undefined;
    throw badRequest(`previous terminated container ${JSON.stringify(container)} in pod ${JSON.stringify(pod.metadata.name)} not found`);
  }
  return containerFiles(root, named, container, run).log;
}

function stream(file: string, options: PodLogOptions, sink: StreamSink, clock: Clock, isRunning: () => boolean): () => void {
  const log = openSync(file, 'r');
  const decoder = new StringDecoder('utf8');
  let position = options.tailLines === undefined ? 0 : tailPosition(log, options.tailLines);
  let left = options.limitBytes ?? Number.POSITIVE_INFINITY;
  let timer: { cancel(): void } | undefined;
  let open = true;
  const stop = (): void => {
    timer?.cancel();
    if (open) closeSync(log);
    open = false;
  };
  const pump = (): void => {
    // Asked before reading, so that the last words of a container that ends meanwhile are not missed.
    const more = options.follow && isRunning();
    const buffer = Buffer.alloc(CHUNK_BYTES);
    for (let size = 1; size > 0 && left > 0; ) {
      size = readSync(log, buffer, 0, Math.min(buffer.length, left), position);
      position += size;
      left -= size;
      if (size > 0) sink.write(decoder.write(buffer.subarray(0, size)));
    }
    if (more && left > 0) {
      timer = clock.schedule(pump, FOLLOW_PERIOD_MS);
      return;
    }
    stop();
    sink.end();
  };
  pump();
  return stop;
}

/** Where the last `lines` lines begin. */
function tailPosition(log: number, lines: number): number {
  let position = fstatSync(log).size;
  let found = 0;
  const buffer = Buffer.alloc(CHUNK_BYTES);
  const end = position;
  if (lines <= 0) return end;
  while (position > 0) {
    const size = Math.min(buffer.length, position);
    position -= size;
    readSync(log, buffer, 0, size, position);
    for (let index = size - 1; index >= 0; index--) {
      // The line feed that ends the file ends its last line; it does not begin another.
      if (buffer[index] !== 0x0a || position + index === end - 1) continue;
      found++;
      if (found === lines) return position + index + 1;
    }
  }
  return 0;
}
