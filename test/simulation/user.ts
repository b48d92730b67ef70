/** Whoever else is at a simulated cluster: creates, changes and deletes Jobs, meddles with pods. */
import type { Job, JobSpec, Pod } from '../../shared/api/kubernetes.ts';
import { CONTROLLER_UID_LABEL } from '../../shared/api/names.ts';
import { JOBS, NAMESPACES, PODS } from '../../shared/api/resources.ts';
import { ApiError } from '../../shared/kube/api-error.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { toWireTime } from '../../shared/api/wire-time.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Dice } from './dice.ts';
import { MANUAL_LABEL, randomJob } from './random-job.ts';

export interface User {
  createJob(): Promise<void>;
  /** Does one thing to some Job or pod. */
  meddle(jobs: readonly Job[], pods: readonly Pod[]): Promise<void>;
  /** Takes back whatever keeps Jobs from ending: suspensions, parallelism 0. */
  relent(jobs: Iterable<Job>): Promise<void>;
}

const NAMES_MAX = 4;

export function createUser(client: KubeClient, clock: Clock, dice: Dice, trace: (line: string) => void): User {
  let created = 0;

  async function createJob(): Promise<void> {
    const namespace = dice.chance(0.1) ? 'doomed' : 'team';
    const job = randomJob(dice, namespace, `job-${created++ % NAMES_MAX}`);
    trace(`user: create ${JSON.stringify(job.spec)} as ${namespace}/${job.metadata.name}`);
    await attempt(() => client.create(JOBS, job));
  }

  /** What the server does not let through has not happened. */
  async function attempt(act: () => Promise<unknown>): Promise<void> {
    try {
      await act();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      trace(`user: refused: ${error.message}`);
    }
  }

  async function patchJob({ metadata: { namespace, name } }: Job, body: object): Promise<void> {
    trace(`user: patch ${namespace}/${name} ${JSON.stringify(body)}`);
    await attempt(() => client.patch(JOBS, { namespace, name }, { type: 'merge', body }));
  }

  async function meddle(jobs: readonly Job[], pods: readonly Pod[]): Promise<void> {
    const job = dice.some(jobs);
    const pod = dice.some(pods);
    if (dice.chance(0.03)) return endNamespace();
    if (pod !== undefined && dice.chance(0.4)) return meddleWithPod(pod);
    if (job !== undefined && dice.chance(0.8)) return meddleWithJob(job);
    if (dice.chance(0.5)) return createJob();
  }

  async function endNamespace(): Promise<void> {
    trace('user: delete namespace doomed');
    await attempt(() => client.delete(NAMESPACES, { namespace: '', name: 'doomed' }));
  }

  async function meddleWithJob(job: Job): Promise<void> {
    const { spec } = job;
    switch (dice.pick(['suspend', 'suspend', 'parallelism', 'elastic', 'deadline', 'annotate', 'delete', 'orphan'])) {
      case 'suspend':
        return patchJob(job, { spec: { suspend: spec.suspend !== true } });
      case 'parallelism':
        return patchJob(job, { spec: { parallelism: dice.int(0, 6) } });
      case 'elastic': {
        const size = dice.int(0, 6);
        return patchJob(job, { spec: { parallelism: size, ...(isElastic(spec) ? { completions: size } : {}) } });
      }
      case 'deadline':
        return patchJob(job, { spec: { activeDeadlineSeconds: dice.pick([10, 60, 600]) } });
      case 'annotate':
        return patchJob(job, { metadata: { annotations: { note: String(dice.int(0, 1000)) } } });
      case 'delete':
        return dice.chance(0.4) ? deleteJob(job) : undefined;
      case 'orphan':
        return createOrphan(job);
    }
  }

  async function deleteJob({ metadata: { namespace, name } }: Job): Promise<void> {
    const propagationPolicy = dice.pick(['Background', 'Foreground', 'Orphan'] as const);
    trace(`user: delete job ${namespace}/${name} ${propagationPolicy}`);
    await attempt(() => client.delete(JOBS, { namespace, name }, { propagationPolicy }));
  }

  /** A pod that the Job's selector matches and nobody controls. */
  async function createOrphan({ metadata: { namespace, name }, spec }: Job): Promise<void> {
    const labels = spec.selector?.matchLabels;
    if (labels === undefined) return;
    trace(`user: create an orphan for ${namespace}/${name}`);
    await attempt(() =>
      client.create(PODS, {
        metadata: { namespace, generateName: `stray-${name}-`, labels },
        spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] },
      }),
    );
  }

  async function meddleWithPod(pod: Pod): Promise<void> {
    const { namespace, name, labels = {} } = pod.metadata;
    const key = { namespace, name };
    const action = dice.pick(['delete', 'delete', 'delete', 'delete', 'kill', 'evict', 'relabel']);
    trace(`user: ${action} pod ${name}`);
    switch (action) {
      case 'delete':
        return attempt(() => client.delete(PODS, key));
      case 'kill':
        return attempt(() => client.delete(PODS, key, { gracePeriodSeconds: 0 }));
      case 'evict': {
        const condition = {
          type: 'DisruptionTarget',
          status: 'True',
          reason: 'EvictionByEvictionAPI',
          lastTransitionTime: toWireTime(clock.now()),
        };
        await attempt(() => client.patchStatus(PODS, key, { type: 'strategic', body: { status: { conditions: [condition] } } }));
        return attempt(() => client.delete(PODS, key));
      }
      case 'relabel': {
        const label = labels[MANUAL_LABEL] === undefined ? CONTROLLER_UID_LABEL : MANUAL_LABEL;
        return attempt(() => client.patch(PODS, key, { type: 'merge', body: { metadata: { labels: { [label]: 'nobody' } } } }));
      }
    }
  }

  async function relent(jobs: Iterable<Job>): Promise<void> {
    for (const job of jobs) {
      const { suspend, parallelism, completions } = job.spec;
      const isIdle = parallelism === 0 && completions !== 0;
      if (suspend !== true && !isIdle) continue;
      await patchJob(job, {
        spec: { suspend: false, ...(isIdle ? { parallelism: 2, ...(isElastic(job.spec) ? { completions: 2 } : {}) } : {}) },
      });
    }
  }

  return { createJob, meddle, relent };
}

const isElastic = ({ completionMode, completions, parallelism }: JobSpec): boolean =>
  completionMode === 'Indexed' && completions === parallelism;
