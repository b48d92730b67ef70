/**
 * What of a Job really ran, and when: told by its processes themselves, which write down that they live, and by the pods of all clusters.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { DeepReadonly, Pod } from '../../shared/api/kubernetes.ts';
import { JOB_NAME_LABEL } from '../../shared/api/names.ts';
import { PODS } from '../../shared/api/resources.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { createInformer } from '../../shared/kube/informer.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';

/** One process of a Job, from the first to the last of its signs of life, in epoch milliseconds. */
export type Run = { readonly pid: number; readonly epoch: number; readonly firstMs: number; readonly lastMs: number };

/** One pod of a Job, from when it was first seen until it had ended or was gone, in epoch milliseconds. */
export type PodLife = {
  readonly cluster: string;
  readonly uid: string;
  /** Its placement, as its container is told. */
  readonly epoch: number;
  readonly fromMs: number;
  hasStarted: boolean;
  /** When it was seen to have been told to end. */
  endingMs: number | undefined;
  untilMs: number | undefined;
};

export interface RunRecorder {
  /** A shell command that runs until the Job is finished here, does not heed SIGTERM, and gives a sign of life five times a second. */
  command(job: string): readonly string[];
  /** Has the command of this Job end well. */
  finish(job: string): void;
  /** In the order in which they began. */
  runs(job: string): readonly Run[];
  pods(job: string): readonly PodLife[];
  /** The most pods of the Job that there were on all clusters together at any time, pods that are ending among them. */
  mostPodsAtOnce(job: string): number;
}

/** Watches until `signal` aborts. */
export function createRunRecorder(directory: string, clients: ReadonlyMap<string, KubeClient>, signal: AbortSignal): RunRecorder {
  const signs = (job: string): string => path.join(directory, `${job}.signs`);
  const end = (job: string): string => path.join(directory, `${job}.end`);
  const lives = new Map<string, PodLife[]>();
  const most = new Map<string, number>();
  const livesOf = (job: string): PodLife[] => lives.get(job) ?? [];

  const see = (cluster: string, pod: DeepReadonly<Pod>, isGone: boolean): void => {
    const job = pod.metadata.labels?.[JOB_NAME_LABEL] ?? '';
    const { uid, deletionTimestamp } = pod.metadata;
    const nowMs = Date.now();
    let life = livesOf(job).find((each) => each.uid === uid);
    if (life === undefined) {
      life = { cluster, uid, epoch: epochOf(pod), fromMs: nowMs, hasStarted: false, endingMs: undefined, untilMs: undefined };
      lives.set(job, [...livesOf(job), life]);
    }
    life.hasStarted ||= pod.status?.phase === 'Running';
    if (deletionTimestamp !== undefined) life.endingMs ??= nowMs;
    if (isGone || pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed') life.untilMs ??= nowMs;
    most.set(job, Math.max(most.get(job) ?? 0, livesOf(job).filter(({ untilMs }) => untilMs === undefined).length));
  };
  for (const [cluster, client] of clients) {
    const informer = createInformer({ client, resource: PODS, clock: systemClock, random: Math.random, log: silentLogger });
    informer.addHandler({
      added: (pod) => see(cluster, pod, false),
      updated: (pod) => see(cluster, pod, false),
      deleted: (pod) => see(cluster, pod, true),
    });
    void informer.run(signal);
  }

  return {
    // Of two dollars, Kubernetes leaves one.
    command: (job) => [
      'sh',
      '-c',
      `trap '' TERM; until [ -e ${end(job)} ]; do echo $SWITCHYARD_EPOCH $$$$ \`date +%s%3N\` >> ${signs(job)}; sleep 0.2; done`,
    ],
    finish: (job) => writeFileSync(end(job), ''),
    runs(job) {
      const runs = new Map<number, Run>();
      const text = existsSync(signs(job)) ? readFileSync(signs(job), 'utf8') : '';
      for (const line of text.split('\n').slice(0, -1)) {
        const [epoch = 0, pid = 0, atMs = 0] = line.split(' ').map(Number);
        runs.set(pid, { pid, epoch, firstMs: runs.get(pid)?.firstMs ?? atMs, lastMs: atMs });
      }
      return [...runs.values()];
    },
    pods: livesOf,
    mostPodsAtOnce: (job) => most.get(job) ?? 0,
  };
}

const epochOf = (pod: DeepReadonly<Pod>): number =>
  Number(pod.spec.containers[0]?.env?.find(({ name }) => name === 'SWITCHYARD_EPOCH')?.value);

/** Pairs of runs of which each gave a sign of life before the other's last one. */
export const overlaps = (runs: readonly Run[]): readonly (readonly [Run, Run])[] =>
  runs.flatMap((one, index) =>
    runs.slice(index + 1).flatMap((other) => (one.firstMs <= other.lastMs && other.firstMs <= one.lastMs ? [[one, other] as const] : [])),
  );
