import { existsSync, readdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import type { ContainerStatus, Pod } from '../../../api/kubernetes.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { omitUndefined } from '../../../runtime/omit-undefined.ts';
import type { StreamSink } from '../../request/answer.ts';
import type { PodLogSource } from '../../subresources/pod-log.ts';
import type { PodLogOptions } from '../../subresources/pod-log-options.ts';
import { badRequest } from '../../apimachinery/status-error.ts';
import type { AnyObject } from '../../apimachinery/object.ts';
import { LogFile } from './log-file.ts';
import { containerFiles } from './pod-directory.ts';

const FOLLOW_PERIOD_MS = 200;

/** What runs on this node. */
export interface Runs {
  hasPod(uid: string): boolean;
  /** Whether this run of a container still runs; the first is 0. */
  isRunning(uid: string, container: string, run: number): boolean;
}

/** Logs of containers from the files that {@link createProcessContainers} leaves. */
export function createPodLogFiles(root: string, clock: Clock, runs: Runs): PodLogSource {
  return {
    open(pod, options, sink) {
      const { uid } = pod.metadata;
      const { container } = options;
      const run = chosenRun(root, pod, options);
      if (run === undefined) {
        if (runs.hasPod(uid)) refuseBeforeStart(pod, container);
        return undefined;
      }
      const path = containerFiles(root, { metadata: { ...pod.metadata } }, container, run).log;
      return stream(path, options, sink, clock, () => runs.isRunning(uid, container, run));
    },
  };
}

/** What a kubelet says of a container that has not run yet. One that runs without a log is an imagined one. */
function refuseBeforeStart(pod: AnyObject, container: string): void {
  const { running, terminated, waiting } = stateOf(pod, container);
  if (running !== undefined || terminated !== undefined) return;
  const reason = waiting?.reason ?? 'ContainerCreating';
  throw badRequest(`container ${JSON.stringify(container)} in pod ${JSON.stringify(pod.metadata.name)} is waiting to start: ${reason}`);
}

/** The last run of the container, or with `previous` the last that has ended before. While it waits to be started again, both are one. */
function chosenRun(root: string, pod: AnyObject, { container, previous }: PodLogOptions): number | undefined {
  const directory = dirname(containerFiles(root, { metadata: { ...pod.metadata } }, container, 0).log);
  if (!existsSync(directory)) return undefined;
  const runs = readdirSync(directory)
    .flatMap((name) => /^(\d+)\.log$/.exec(name)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => b - a);
  const waits = stateOf(pod, container).waiting !== undefined;
  const run = runs[previous && !waits ? 1 : 0];
  if (run !== undefined || !previous) return run;
  throw badRequest(`previous terminated container ${JSON.stringify(container)} in pod ${JSON.stringify(pod.metadata.name)} not found`);
}

function stateOf(pod: AnyObject, container: string): NonNullable<ContainerStatus['state']> {
  const { containerStatuses = [], initContainerStatuses = [] } = (pod['status'] ?? {}) as NonNullable<Pod['status']>;
  return [...initContainerStatuses, ...containerStatuses].find(({ name }) => name === container)?.state ?? {};
}

function stream(path: string, options: PodLogOptions, sink: StreamSink, clock: Clock, isRunning: () => boolean): () => void {
  const { timestamps, limitBytes, tailLines } = options;
  const log = new LogFile(path, { timestamps, ...omitUndefined({ limitBytes, sinceMs: sinceMs(options, clock.now()) }) }, tailLines);
  const decoder = new StringDecoder('utf8');
  let timer: { cancel(): void } | undefined;
  let open = true;
  const stop = (): void => {
    timer?.cancel();
    if (open) log.close();
    open = false;
  };
  const pump = (): void => {
    // Asked before reading, so that the last words of a container that ends meanwhile are not missed.
    const more = options.follow && isRunning();
    const wantsMore = log.read((text) => sink.write(decoder.write(text)));
    if (more && wantsMore) {
      timer = clock.schedule(pump, FOLLOW_PERIOD_MS);
      return;
    }
    stop();
    sink.end();
  };
  pump();
  return stop;
}

const sinceMs = ({ sinceSeconds, sinceTime }: PodLogOptions, nowMs: number): number | undefined =>
  sinceSeconds === undefined ? (sinceTime === undefined ? undefined : Date.parse(sinceTime)) : nowMs - sinceSeconds * 1000;
