/**
 * How long whatever an administrator changes stops everything else, while very many Jobs wait: the whole of admission goes on beside it.
 */
import { memoryUsage } from 'node:process';
import type { LineSink } from '../../manager/admission/decision-log/decision-recorder.ts';
import { FairStrategy } from '../../manager/admission/fair-sharing/fair-strategy.ts';
import type { ClusterQueue, ClusterQueueSpec } from '../../manager/api/cluster-queue.ts';
import type { ResourceFlavor } from '../../manager/api/resource-flavor.ts';
import type { WorkerCluster } from '../../manager/api/worker-cluster.ts';
import type { DeepReadonly } from '../../shared/api/kubernetes.ts';
import { seededRandom } from '../../shared/runtime/random.ts';
import { cpuQueue } from './admission-core.ts';
import { createAdmissionWhole, type AdmissionWhole } from './admission-whole.ts';
import { cpuMs, threadCpuMs } from './cpu-time.ts';

export type ChangesLoad = {
  readonly waiting: number;
  /** Jobs of about one cpu that run at once. */
  readonly running: number;
  readonly queueCount: number;
  readonly clusterCount: number;
  readonly policy: Policy;
};
export type Policy = 'none' | 'preemption' | 'fair';

export const PREEMPTION = { withinClusterQueue: 'LowerPriority', reclaimWithinCohort: 'Any' } as const;
export const FAIR_SHARING = { preemptionStrategies: [FairStrategy.LessThanOrEqualToFinalShare, FairStrategy.LessThanInitialShare] };

/**
 * So long it is looked at what a change leads to: queues are told of their state once in a second, and on a busy machine it all takes
 * longer.
 */
const WATCHED_MS = 2_500;
const WATCHED_CPU_MS = 1_000;

/**
 * Of each kind of change the longest turn of the event loop that it led to, in processor time of its thread; systems tell that to some
 * milliseconds.
 */
export async function measureChanges(load: ChangesLoad): Promise<readonly (readonly string[])[]> {
  const heapBefore = heapUsed();
  const whole = fill(load);
  whole.start();
  await settled(whole);
  const bytes = (heapUsed() - heapBefore) / load.waiting;
  const lines: (readonly string[])[] = [['all told', `${Math.round(bytes)} bytes a Job`, `${whole.running()} run`]];
  for (const [name, change] of CHANGES) {
    lines.push([name, `${(await longestTurnMs(() => change(whole))).toFixed(1)} ms at once`]);
  }
  await whole.stop();
  return lines;
}

export function fill({ waiting, running, queueCount, clusterCount, policy }: ChangesLoad, decisionLog?: LineSink): AdmissionWhole {
  const whole = createAdmissionWhole(policy === 'fair' ? FAIR_SHARING : undefined, decisionLog);
  for (let index = 0; index < queueCount; index++) {
    const spec = { cohortName: `cohort-${index % 10}`, ...(policy === 'none' ? {} : { preemption: PREEMPTION }) };
    whole.queue(cpuQueue(`queue-${index}`, running / queueCount, undefined, spec));
  }
  for (let index = 0; index < clusterCount; index++) whole.cluster(`cluster-${index}`, running);
  const random = seededRandom(1);
  for (let index = 0; index < waiting; index++)
    whole.job(`queue-${index % queueCount}`, `job-${index}`, `${500 + Math.floor(random() * 1_000_000) / 1000}m`);
  return whole;
}

/** Until somebody has been admitted, and nobody is any more. */
async function settled(whole: AdmissionWhole): Promise<void> {
  for (let before = 0; before === 0 || before !== whole.running(); ) {
    before = whole.running();
    await longestTurnMs(() => undefined);
  }
}

async function longestTurnMs(change: () => void): Promise<number> {
  const startedMs = performance.now();
  const startedCpuMs = cpuMs();
  let longestMs = 0;
  let lastMs = threadCpuMs();
  change();
  while (performance.now() - startedMs < WATCHED_MS || cpuMs() - startedCpuMs < WATCHED_CPU_MS) {
    await new Promise(setImmediate);
    const nowMs = threadCpuMs();
    longestMs = Math.max(longestMs, nowMs - lastMs);
    lastMs = nowMs;
  }
  return longestMs;
}

function heapUsed(): number {
  globalThis.gc?.();
  return memoryUsage().heapUsed;
}

type Change = (whole: AdmissionWhole) => void;

const CHANGES: readonly (readonly [string, Change])[] = [
  ['nothing', () => undefined],
  ['more quota', (whole) => changeQueue(whole, (queue) => withQuota(queue, 1))],
  ['less quota', (whole) => changeQueue(whole, (queue) => withQuota(queue, -1))],
  ['a queue stopped', (whole) => changeQueue(whole, ({ spec }) => ({ ...spec, stopPolicy: 'Hold' }))],
  ['and started', (whole) => changeQueue(whole, ({ spec }) => ({ ...spec, stopPolicy: 'None' }))],
  ['a flavor changed', ({ informers }) => informers.resourceFlavors.put({ ...flavorOf(informers), spec: { nodeLabels: { zone: 'b' } } })],
  ['moved to another cohort', (whole) => changeQueue(whole, ({ spec }) => ({ ...spec, cohortName: 'cohort-other' }))],
  ['more capacity', (whole) => changeCluster(whole, { capacity: { cpu: '1000000' } })],
  ['a cluster drained', (whole) => changeCluster(whole, { state: 'Draining' })],
  ['and open again', (whole) => changeCluster(whole, { state: 'Active' })],
];

const changeable = <T>(object: DeepReadonly<T> | undefined): T => structuredClone(object as T);
const flavorOf = ({ resourceFlavors }: AdmissionWhole['informers']): ResourceFlavor =>
  changeable<ResourceFlavor>(resourceFlavors.get({ namespace: '', name: 'default' }));

function changeQueue({ informers }: AdmissionWhole, specOf: (queue: ClusterQueue) => ClusterQueueSpec): void {
  const queue: ClusterQueue = changeable<ClusterQueue>(informers.clusterQueues.get({ namespace: '', name: 'queue-0' }));
  informers.clusterQueues.put({ ...queue, spec: specOf(queue) });
}

function withQuota({ spec }: ClusterQueue, more: number): ClusterQueueSpec {
  const resourceGroups = (spec.resourceGroups ?? []).map((group) => ({
    ...group,
    flavors: group.flavors.map((flavor) => ({
      ...flavor,
      resources: flavor.resources.map((resource) => ({ ...resource, nominalQuota: Number(resource.nominalQuota) + more })),
    })),
  }));
  return { ...spec, resourceGroups };
}

function changeCluster({ informers }: AdmissionWhole, spec: Partial<WorkerCluster['spec']>): void {
  const cluster: WorkerCluster = changeable<WorkerCluster>(informers.workerClusters.get({ namespace: '', name: 'cluster-0' }));
  informers.workerClusters.put({ ...cluster, spec: { ...cluster.spec, ...spec } });
}
