/** `npm start -- --kinds --keep`: a JobSet through real processes, its child Jobs as real containers. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { JOB_SET_EXAMPLE } from '../../manager/cli/local/examples.ts';
import { JOB_SETS, type JobSet } from '../../manager/cli/local/job-set/definition.ts';
import type { Job, KubeObject } from '../../shared/api/kubernetes.ts';
import { HOLD_ANNOTATION, QUEUE_NAME_LABEL, WORKER_CONTROLLER_NAME } from '../../shared/api/names.ts';
import { JOBS, PODS, type Resource } from '../../shared/api/resources.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { findCondition, hasTrueCondition } from '../../shared/kube/conditions.ts';
import { createHttpTransport } from '../../shared/kube/http-transport.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import { accessFromKubeconfig } from '../../shared/kube/kubeconfig.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { LocalRun } from '../support/local-run.ts';

/** Many times what it takes on a quiet machine. */
const RUN_LIMIT_MS = 300_000;
const WORKERS = ['east', 'west'] as const;
const NAMESPACE = 'default';
const soon = { timeout: 60_000, interval: 200 };

describe('npm start -- --kinds --keep', () => {
  let run: LocalRun;
  const clients = new Map<string, KubeClient>();

  beforeAll(async () => {
    run = new LocalRun({ args: ['--kinds', '--keep'] });
    await run.waitFor(/Everything stays up[\s\S]*^dashboard/m);
    for (const cluster of ['manager', ...WORKERS]) {
      const access = accessFromKubeconfig({ kind: 'file', path: run.file(`${cluster}.kubeconfig`) }, systemClock);
      clients.set(cluster, createKubeClient(createHttpTransport(access, silentLogger), { userAgent: 'test', clock: systemClock }));
    }
  }, RUN_LIMIT_MS);
  afterAll(async () => {
    for (const client of clients.values()) await client.close();
    await run[Symbol.asyncDispose]();
  }, RUN_LIMIT_MS);

  const clientOf = (cluster: string): KubeClient => {
    const client = clients.get(cluster);
    if (client === undefined) throw new Error(`there is no cluster ${cluster}`);
    return client;
  };
  const atHome = (name: string): Promise<JobSet> => clientOf('manager').get(JOB_SETS, { namespace: NAMESPACE, name });
  const childJobs = async (name: string): Promise<Job[]> => {
    const labelSelector = `jobset.sigs.k8s.io/jobset-name=${name}`;
    return (await Promise.all(WORKERS.map(async (cluster) => (await clientOf(cluster).list(JOBS, { labelSelector })).items))).flat();
  };
  /** JobSets, Jobs and pods on both worker clusters. */
  const left = async (name: string): Promise<string[]> => {
    const objects = WORKERS.flatMap((cluster) => {
      const listed = async <T extends KubeObject>(resource: Resource<T>): Promise<readonly KubeObject[]> =>
        (await clientOf(cluster).list(resource)).items;
      return [listed(JOB_SETS), listed(JOBS), listed(PODS)];
    });
    return (await Promise.all(objects)).flat().flatMap(({ metadata }) => (metadata.name.startsWith(name) ? metadata.name : []));
  };

  test(
    'a JobSet is admitted, its child Jobs run on one worker cluster, it completes at home, and nothing of it is left there',
    async () => {
      const row = run.output.split('\n').findLast((line) => line.startsWith(`${JOB_SET_EXAMPLE.name} `));
      const cluster = /^primes +API +(east|west) +Complete +3 +0 /.exec(row ?? '')?.[1];
      expect(cluster, run.output).toBeDefined();
      expect(run.output).toContain(`primes: its child Job primes-leader-0 on ${cluster}: 78498 primes below a million are expected\n`);
      expect(run.output).toContain(`primes: its child Job primes-workers-0 on ${cluster}: 41538 primes from 0 on\n`);
      expect(run.output).toContain(`primes: its child Job primes-workers-1 on ${cluster}: 36960 primes from 500000 on\n`);
      expect(run.output).toContain('Every Job ended as expected');
      const { status } = await atHome('primes');
      expect(findCondition(status?.conditions, 'Complete')).toMatchObject({ status: 'True', reason: 'AllJobsCompleted' });
      await expect.poll(() => left('primes'), soon).toEqual([]);
    },
    RUN_LIMIT_MS,
  );

  test(
    'a JobSet that is held stops its child Jobs, and runs again once it is released',
    async () => {
      const container = {
        name: 'main',
        image: 'busybox',
        command: ['sleep', '3600'],
        resources: { requests: { cpu: '100m', memory: '16Mi' } },
      };
      const template = {
        spec: { template: { spec: { restartPolicy: 'Never', terminationGracePeriodSeconds: 1, containers: [container] } } },
      };
      await clientOf('manager').create<JobSet>(JOB_SETS, {
        metadata: { namespace: NAMESPACE, name: 'sleepers', labels: { [QUEUE_NAME_LABEL]: 'batch' } },
        spec: { suspend: true, managedBy: 'switchyard.dev/manager', replicatedJobs: [{ name: 'one', replicas: 2, template }] },
      });
      const running = async (): Promise<unknown[]> =>
        (await childJobs('sleepers')).map(({ metadata, spec, status }) => [metadata.name, spec.managedBy, spec.suspend, status?.ready]);
      const suspended = async (): Promise<string[]> =>
        (await childJobs('sleepers')).map(({ metadata, spec }) => `${metadata.name} ${spec.suspend}`);
      const pods = async (): Promise<string[]> =>
        (await Promise.all(WORKERS.map(async (cluster) => (await clientOf(cluster).list(PODS)).items)))
          .flat()
          .flatMap(({ metadata }) => (metadata.name.startsWith('sleepers') ? metadata.name : []));
      const both = ['sleepers-one-0', 'sleepers-one-1'].map((name) => [name, WORKER_CONTROLLER_NAME, false, 1]);
      const hold = (value: 'true' | null): Promise<unknown> => {
        const body = { metadata: { annotations: { [HOLD_ANNOTATION]: value } } };
        return clientOf('manager').patch(JOB_SETS, { namespace: NAMESPACE, name: 'sleepers' }, { type: 'merge', body });
      };
      const condition = async (): Promise<string | undefined> =>
        findCondition((await atHome('sleepers')).status?.conditions, 'QuotaReserved')?.reason;
      await expect.poll(running, soon).toEqual(both);
      await hold('true');
      await expect.poll(condition, soon).toBe('Held');
      // The copy stays where it is, and nothing of it runs.
      await expect.poll(suspended, soon).toEqual(['sleepers-one-0 true', 'sleepers-one-1 true']);
      await expect.poll(pods, soon).toEqual([]);
      await hold(null);
      await expect.poll(running, soon).toEqual(both);
      // The status of the copy comes home with the condition, and may come after its pods are ready.
      const isReserved = async (): Promise<boolean> => hasTrueCondition((await atHome('sleepers')).status?.conditions, 'QuotaReserved');
      await expect.poll(isReserved, soon).toBe(true);
      await clientOf('manager').delete(JOB_SETS, { namespace: NAMESPACE, name: 'sleepers' });
      await expect.poll(() => left('sleepers'), soon).toEqual([]);
    },
    RUN_LIMIT_MS,
  );

  test('the definition refuses another manager for a JobSet that has one, and fields that it does not know', async () => {
    const body = { spec: { managedBy: 'example.com/other' } };
    const patched = clientOf('manager').patch(JOB_SETS, { namespace: NAMESPACE, name: 'primes' }, { type: 'merge', body });
    await expect(patched).rejects.toThrow(/managedBy is immutable/);
    const restarting = { metadata: { namespace: NAMESPACE, name: 'restarting' }, spec: { failurePolicy: { maxRestarts: 3 } } };
    const created = clientOf('manager').create(JOB_SETS, restarting as never, { fieldValidation: 'Strict' });
    await expect(created).rejects.toThrow(/failurePolicy/);
  });
});
