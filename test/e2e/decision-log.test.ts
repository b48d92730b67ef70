/**
 * Goal: an operator lets a manager write down what it decides, and is told by the program what another policy would have made of it. All
 * programs are processes, Jobs run for real.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { CLUSTER_QUEUES } from '../../manager/api/cluster-queue.ts';
import { LOCAL_QUEUES } from '../../manager/api/local-queue.ts';
import { RESOURCE_FLAVORS } from '../../manager/api/resource-flavor.ts';
import { installKinds, joinCluster } from '../../manager/cli/local/set-up.ts';
import type { Job, Unsaved } from '../../shared/api/kubernetes.ts';
import { QUEUE_NAME_LABEL } from '../../shared/api/names.ts';
import { JOBS, NAMESPACES } from '../../shared/api/resources.ts';
import { hasTrueCondition } from '../../shared/kube/conditions.ts';
import { sleep, systemClock } from '../../shared/runtime/clock.ts';
import { ChildProgram } from '../support/child-program.ts';
import { startClusterProgram } from '../support/cluster-program.ts';
import { startRealEtcd } from '../support/real-control-plane.ts';
import { isServerReal } from '../support/server-under-test.ts';
import { switchyardHere } from '../support/switchyard-here.ts';
import { switchyard } from '../support/switchyard-process.ts';
import { JOB_KIND } from '../../manager/work-kind/job/job-kind.ts';

const LIMIT_MS = 300_000;
const POLL_MS = 100;
const ROOT = path.resolve(import.meta.dirname, '..', '..');
const NAMESPACE = 'team';
const NAMES = ['first', 'second', 'third'];
const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-decisions-'));
const file = (name: string): string => path.join(directory, name);
const LOG = file('decisions.log');

const queueOf = (cpu: number, spec: object = {}) => ({
  namespaceSelector: {},
  resourceGroups: [{ coveredResources: ['cpu'], flavors: [{ name: 'default', resources: [{ name: 'cpu', nominalQuota: cpu }] }] }],
  ...spec,
});
const manifest = (spec: object): string =>
  stringify({ apiVersion: 'switchyard.dev/v1alpha1', kind: 'ClusterQueue', metadata: { name: 'main' }, spec });

const aJob = (name: string): Unsaved<Job> => ({
  metadata: { name, namespace: NAMESPACE, labels: { [QUEUE_NAME_LABEL]: 'main' } },
  spec: {
    template: {
      spec: {
        restartPolicy: 'Never',
        containers: [{ name: 'main', image: 'busybox', command: ['sleep', '0.2'], resources: { requests: { cpu: '1' } } }],
      },
    },
  },
});

/**
 * One queue with room for one Job at a time, one worker cluster, and three Jobs that come together: until all are complete and the manager
 * has ended.
 */
async function aDay(): Promise<void> {
  await using programs = new AsyncDisposableStack();
  const start = (name: string, main: string, flags: readonly string[]): ChildProgram =>
    programs.use(new ChildProgram(name, [process.execPath, path.join(ROOT, main), ...flags]));
  const etcd = isServerReal() ? programs.use(await startRealEtcd()) : undefined;
  const controllers = ['garbage-collector', 'namespace', 'pod-gc'] as const;
  const homeCluster = programs.use(await startClusterProgram({ name: 'home', controllers, etcd }));
  const eastCluster = programs.use(await startClusterProgram({ name: 'east', controllers: [...controllers, 'node-agent'], etcd }));
  const [home, east] = [homeCluster.client, eastCluster.client];
  await installKinds(home, ROOT);
  await Promise.all([home, east].map((client) => client.create(NAMESPACES, { metadata: { name: NAMESPACE } })));
  await home.create(RESOURCE_FLAVORS, { metadata: { name: 'default' }, spec: {} });
  await home.create(CLUSTER_QUEUES, { metadata: { name: 'main' }, spec: queueOf(1) });
  await home.create(LOCAL_QUEUES, { metadata: { name: 'main', namespace: NAMESPACE }, spec: { clusterQueue: 'main' } });
  for (const name of NAMES) await home.create(JOBS, JOB_KIND.prepared(aJob(name)));
  await joinCluster(home, 'east', eastCluster.kubeconfig);
  start('worker', 'worker/main.ts', [`--kubeconfig=${eastCluster.kubeconfigFile}`]);
  const manager = start('manager', 'manager/main.ts', [`--kubeconfig=${homeCluster.kubeconfigFile}`, `--decision-log=${LOG}`]);
  const complete = async (): Promise<void> => {
    for (const name of NAMES) {
      while (!hasTrueCondition((await home.get(JOBS, { namespace: NAMESPACE, name })).status?.conditions, 'Complete'))
        await sleep(systemClock, POLL_MS);
    }
  };
  await Promise.race([complete(), manager.failsWhenEnded()]);
}

beforeAll(aDay, LIMIT_MS);
afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe('a day that a manager has written down', { timeout: LIMIT_MS }, () => {
  test('is decided again as it was', async () => {
    const { code, stdout, stderr } = await switchyard(['replay', LOG]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/3 Jobs in 1 queue\ndecided as it was, in all \d+ cycles\n/);
  });

  test('is told as it would have been with quota for all of its Jobs at once', async () => {
    writeFileSync(file('more.yaml'), manifest(queueOf(3)));
    const { code, stdout } = await switchyardHere(['replay', LOG, '--queues', file('more.yaml'), '-o', 'json']);
    expect(code).toBe(0);
    const report = JSON.parse(stdout);
    expect(report).toMatchObject({ isOtherPolicy: true, replaced: ['ClusterQueue main'], jobs: 3 });
    expect(report.agreement.firstDifference.logged).toMatch(/ waits \(InsufficientQuota/);
    expect(report.agreement.firstDifference.replayed).toMatch(/ goes to east \(default\)/);
    const [{ logged, replayed }] = report.queues;
    expect([logged.admitted, replayed.admitted]).toEqual([3, 3]);
    expect(replayed.waits.p99).toBeLessThan(logged.waits.p99);
    expect(replayed.makespan).toBeLessThan(logged.makespan);
  });

  test('with quota for none, nobody would have run', async () => {
    writeFileSync(file('none.yaml'), manifest(queueOf(0)));
    const { stdout } = await switchyardHere(['replay', LOG, '--queues', file('none.yaml')]);
    expect(stdout).toMatch(/with others: ClusterQueue main\n/);
    expect(stdout).toMatch(/\n {2}replayed +0 +0 +3 /);
  });

  test('with a queue that contradicts itself is not replayed: the rule of the definition says why', async () => {
    const preemption = { borrowWithinCohort: { policy: 'LowerPriority' } };
    writeFileSync(file('wrong.yaml'), manifest(queueOf(3, { preemption })));
    expect(await switchyardHere(['replay', LOG, '--queues', file('wrong.yaml')])).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(
        /ClusterQueue main is invalid: spec\.preemption: .*borrowWithinCohort is a part of reclaimWithinCohort/,
      ),
    });
  });
});
