import { isDeepStrictEqual } from 'node:util';
import type { Job, Pod } from '../../../shared/api/kubernetes.ts';
import { EVENTS, JOBS, NAMESPACES, PODS } from '../../../shared/api/resources.ts';
import { isNotFound } from '../../../shared/kube/api-error.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { createClean, indexOf, isReady, isTracked, observeEvents, observeJob, observePodDetail, observePods } from './observation.ts';
import { podStatus } from './pod-status.ts';
import type { Outcome, PodFilter, Scenario, Step } from './scenario.ts';

/** The cluster a scenario is played on, and how time passes there. */
export type Stage = {
  readonly client: KubeClient;
  now(): number;
  /** Lets so much time pass: real time, or a fake clock moved on. */
  pass(ms: number): Promise<void>;
};

export type PlayOptions = {
  /** A step counts as settled when nothing has changed for so long. Longer than the batch period and the first retry. */
  readonly quietMs: number;
  readonly settleLimitMs: number;
  readonly namespace: string;
};

const LOOK_EVERY_MS = 100;
const PARALLEL_CALLS = 32;

/** Plays the kubelet and the user of one scenario, and returns what was to be seen after each step. */
export async function playScenario(stage: Stage, scenario: Scenario, options: PlayOptions): Promise<Outcome> {
  const { client } = stage;
  const { namespace } = options;
  const name = String(scenario.job.metadata?.['name'] ?? 'job');
  const podNames = new Set<string>();
  const clean = createClean(namespace, name, podNames);
  const observed: object[] = [];
  await client.create(NAMESPACES, { metadata: { name: namespace } });

  const listPods = async (): Promise<Pod[]> => {
    const pods = (await client.list(PODS, { namespace })).items.toSorted(byCreation);
    for (const pod of pods) podNames.add(pod.metadata.name);
    return pods;
  };
  const getJob = async (): Promise<Job | undefined> => {
    try {
      return await client.get(JOBS, { namespace, name });
    } catch (error) {
      if (isNotFound(error)) return undefined;
      throw error;
    }
  };

  const settle = async (): Promise<{ job: Job | undefined; pods: Pod[] }> => {
    let last = '';
    let restingSince = stage.now();
    const begin = stage.now();
    for (;;) {
      const job = await getJob();
      const pods = await listPods();
      const signature = JSON.stringify([
        job?.metadata.resourceVersion,
        ...pods.map(({ metadata }) => [metadata.name, metadata.resourceVersion]),
      ]);
      if (signature !== last) {
        last = signature;
        restingSince = stage.now();
      }
      if (stage.now() - restingSince >= options.quietMs || stage.now() - begin > options.settleLimitMs) return { job, pods };
      await stage.pass(LOOK_EVERY_MS);
    }
  };

  const doToPod = async (step: Step, pod: Pod): Promise<unknown> => {
    const key = { namespace, name: pod.metadata.name };
    switch (step.do) {
      case 'bind':
        return client.raw({
          method: 'POST',
          path: `/api/v1/namespaces/${namespace}/pods/${key.name}/binding`,
          body: {
            apiVersion: 'v1',
            kind: 'Binding',
            metadata: { name: key.name },
            target: { apiVersion: 'v1', kind: 'Node', name: 'node-1' },
          },
        });
      case 'deletePod':
        return client.delete(PODS, key, step.grace === undefined ? {} : { gracePeriodSeconds: step.grace });
      case 'finishTermination':
        return client.delete(PODS, key, { gracePeriodSeconds: 0 });
      case 'label':
        return client.patch(PODS, key, { type: 'merge', body: { metadata: { labels: step.labels } } });
      case 'podCondition': {
        const conditions = step.conditions?.map((condition) => ({ status: 'True', ...condition }));
        return client.patchStatus(PODS, key, { type: 'strategic', body: { status: { conditions } } });
      }
      default:
        return client.patchStatus(PODS, key, { type: 'merge', body: { status: podStatus(pod, step, stage.now()) } });
    }
  };

  const doToPods = async (step: Step): Promise<void> => {
    const matching = (await listPods()).filter((pod) => matches(pod, step.where ?? {}));
    const chosen = matching.slice(0, step.count ?? matching.length);
    if (chosen.length < (step.count ?? 1) && step.optional !== true) {
      throw new Error(`step ${JSON.stringify(step)}: only ${chosen.length} pods match`);
    }
    for (let start = 0; start < chosen.length; start += PARALLEL_CALLS) {
      await Promise.all(chosen.slice(start, start + PARALLEL_CALLS).map((pod) => doToPod(step, pod)));
    }
  };

  const doStep = async (step: Step): Promise<unknown> => {
    const key = { namespace, name };
    switch (step.do) {
      case 'create': {
        const job = step.job ?? scenario.job;
        return client.create(JOBS, { ...job, metadata: { ...job.metadata, namespace, name } } as Job);
      }
      case 'patchJob':
        return client.patch(JOBS, key, { type: 'merge', body: step.patch ?? {} });
      case 'patchStatus':
        return client.patchStatus(JOBS, key, { type: 'merge', body: { status: step.status } });
      case 'deleteJob':
        return client.delete(JOBS, key, { propagationPolicy: step.propagation ?? 'Background' });
      case 'createPod':
        return client.create(PODS, { ...step.pod, metadata: { ...(step.pod?.['metadata'] as object), namespace } } as Pod);
      case 'wait':
        return stage.pass((step.seconds ?? 0) * 1000);
      default:
        return doToPods(step);
    }
  };

  let failure: string | undefined;
  try {
    for (const step of [{ do: 'create' }, ...scenario.steps] as readonly Step[]) {
      await doStep(step);
      if (step.settle === false) continue;
      const { job, pods } = await settle();
      observed.push({
        after: step.note ?? step.do,
        job: observeJob(job, clean),
        pods: observePods(pods),
        ...(step.detail ? { detail: pods.map((pod) => observePodDetail(pod, clean)) } : {}),
      });
    }
  } catch (error) {
    failure = error instanceof Error ? error.message : String(error);
  }
  // Events are posted beside the syncs, later on a loaded machine.
  const look = async (): Promise<Outcome['events']> => observeEvents((await client.list(EVENTS, { namespace })).items, clean);
  const endMs = stage.now() + options.settleLimitMs;
  let events = await look();
  while (!isDeepStrictEqual(events, scenario.expect.events) && stage.now() < endMs) {
    await stage.pass(LOOK_EVERY_MS);
    events = await look();
  }
  await client.delete(NAMESPACES, { namespace: '', name: namespace });
  return { observed, events, ...omitUndefined({ error: failure }) };
}

const byCreation = (a: Pod, b: Pod): number =>
  a.metadata.creationTimestamp.localeCompare(b.metadata.creationTimestamp) ||
  Number(indexOf(a) ?? 0) - Number(indexOf(b) ?? 0) ||
  Number(a.metadata.resourceVersion) - Number(b.metadata.resourceVersion);

function matches(pod: Pod, where: PodFilter): boolean {
  const agrees = <T>(wanted: T | undefined, actual: T): boolean => wanted === undefined || wanted === actual;
  return (
    agrees(where.phase, pod.status?.phase ?? '') &&
    (where.index === undefined ||
      [where.index]
        .flat()
        .map(String)
        .includes(indexOf(pod) ?? '')) &&
    agrees(where.bound, Boolean(pod.spec.nodeName)) &&
    agrees(where.terminating, pod.metadata.deletionTimestamp !== undefined) &&
    agrees(where.tracked, isTracked(pod)) &&
    agrees(where.ready, isReady(pod))
  );
}
