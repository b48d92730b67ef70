/**
 * Goal: an operator asks the program, over the real API and with rights to read alone, what a change would do to whom; nothing is
 * written, and what cannot be is refused as the API server would.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { CLUSTER_QUEUES } from '../../manager/api/cluster-queue.ts';
import { WORKER_CLUSTERS } from '../../manager/api/worker-cluster.ts';
import { JOBS } from '../../shared/api/resources.ts';
import { switchyardHere } from '../support/switchyard-here.ts';
import { switchyard, type Outcome } from '../support/switchyard-process.ts';
import { createAdmissionWorld, type AdmissionWorld } from './admission-world.ts';

const LIMIT_MS = 120_000;

let world: AdmissionWorld;
let folder: string;
let admin: string;
let nobody: string;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'switchyard-what-if-'));
  world = await createAdmissionWorld();
  admin = path.join(folder, 'admin');
  const text = await world.listen();
  writeFileSync(admin, text);
  nobody = path.join(folder, 'nobody');
  const { users, ...rest } = parse(text);
  writeFileSync(nobody, stringify({ ...rest, users: users.map(({ name }: { name: string }) => ({ name, user: {} })) }));
  await world.flavor('default');
  await world.queue('main', { cpu: '4' });
  await world.cluster('east', { capacity: { cpu: '8', pods: '10' } });
  await world.cluster('west', { capacity: { cpu: '2', pods: '10' } });
  await world.job('holder', { cpu: '3' });
  await world.settle(1_000);
  await world.job('waits', { cpu: '2' });
  await world.settle(3_000);
}, LIMIT_MS);
afterAll(async () => {
  await world.close();
  rmSync(folder, { recursive: true });
});

/** What is read from standard input takes a process. */
const asking = (kubeconfig: string, args: readonly string[], input?: string): Promise<Outcome> =>
  input === undefined ? switchyardHere(['what-if', ...args], { kubeconfig }) : switchyard(['what-if', ...args], { kubeconfig, input });
const manifest = (kind: string, name: string, spec: object): string =>
  stringify({ apiVersion: 'switchyard.dev/v1alpha1', kind, metadata: { name }, spec });
const job = (name: string, cpu: string): string =>
  stringify({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, labels: { 'switchyard.dev/queue-name': 'main' } },
    spec: {
      template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox', resources: { requests: { cpu } } }] } },
    },
  });

test('more quota, and who gets it', { timeout: LIMIT_MS }, async () => {
  const { code, stdout, stderr } = await asking(admin, ['--quota', 'main:default:cpu=+2']);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toBe(`If
  quota main:default:cpu=+2
then, once all suspended Jobs have stopped, and if no Job ends and no other
    Job arrives:

Admitted instead of waiting (1):
  team/waits: would run on west (main, flavor default)

1 Job is not affected.
`);
});

test('a cluster drained, as JSON', { timeout: LIMIT_MS }, async () => {
  const { code, stdout } = await asking(admin, ['--drain', 'east', '-o', 'json']);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({
    changes: ['drain east'],
    settled: true,
    untouched: 0,
    effects: [
      {
        kind: 'Evicted',
        job: 'team/holder',
        now: { kind: 'Admitted', cluster: 'east' },
        with: { kind: 'Waiting' },
        losses: [{ reason: 'ClusterDraining' }],
      },
      { kind: 'Admitted', job: 'team/waits', with: { kind: 'Admitted', cluster: 'west' } },
    ].toSorted((a, b) => (a.kind < b.kind ? -1 : 1)),
  });
});

test('manifests: a queue, a cluster that is new, and a Job that is submitted', { timeout: LIMIT_MS }, async () => {
  const resourceGroups = [{ coveredResources: ['cpu'], flavors: [{ name: 'default', resources: [{ name: 'cpu', nominalQuota: '20' }] }] }];
  const north = { kubeconfigSecretRef: { namespace: 'switchyard', name: 'north' }, capacity: { cpu: '16', pods: '10' } };
  const documents = [
    manifest('ClusterQueue', 'main', { namespaceSelector: {}, resourceGroups }),
    manifest('WorkerCluster', 'north', north),
    job('wide', '12'),
  ];
  const { code, stdout, stderr } = await asking(admin, ['-n', 'team', '-o', 'json', '-f', '-'], documents.join('---\n'));
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(JSON.parse(stdout)).toMatchObject({
    effects: [
      { kind: 'Submitted', job: 'team/wide', with: { kind: 'Admitted', cluster: 'north' } },
      { kind: 'Admitted', job: 'team/waits' },
    ],
  });
});

test('more Jobs of one manifest', { timeout: LIMIT_MS }, async () => {
  const file = path.join(folder, 'job.yaml');
  writeFileSync(file, job('small', '1'));
  const { code, stdout } = await asking(admin, ['-n', 'team', '--submit', `${file}=3`, '-o', 'json']);
  expect(code).toBe(0);
  const { effects } = JSON.parse(stdout);
  expect(effects.map((each: { kind: string; with: { kind: string } }) => [each.kind, each.with.kind])).toEqual([
    ['Submitted', 'Admitted'],
    ['Submitted', 'Waiting'],
    ['Submitted', 'Waiting'],
  ]);
});

test('what cannot be is refused with the field and the remedy, in one line', { timeout: LIMIT_MS }, async () => {
  const file = (name: string, spec: object): string => {
    const where = path.join(folder, name);
    writeFileSync(where, manifest('ClusterQueue', 'main', spec));
    return where;
  };
  const outcomes = await Promise.all([
    asking(admin, ['-f', file('sometimes.yaml', { namespaceSelector: {}, stopPolicy: 'Sometimes' })]),
    asking(admin, ['-f', file('unknown.yaml', { quota: 3 })]),
    asking(admin, ['--quota', 'main:spot:cpu=3']),
    asking(admin, ['--drain', 'nowhere']),
    asking(nobody, ['--drain', 'east']),
    asking(admin, []),
    asking(admin, ['--quota', 'main=3']),
  ]);
  expect(outcomes.map(({ code, stdout, stderr }) => [code, stdout, stderr.trimEnd()])).toEqual([
    [
      1,
      '',
      expect.stringMatching(/sometimes\.yaml, document 1: ClusterQueue main is invalid: spec\.stopPolicy: Unsupported value: "Sometimes"/),
    ],
    [1, '', expect.stringMatching(/unknown\.yaml, document 1: .*unknown field "spec\.quota"/)],
    [1, '', expect.stringMatching(/--quota main:spot:cpu=3: it gives no cpu in flavor spot; it has default \(cpu\); .*with -f$/)],
    [1, '', expect.stringMatching(/--drain nowhere: there is no worker cluster nowhere; there are east, west$/)],
    [1, '', expect.stringMatching(/you may not list workkinds\.switchyard\.dev, .*; ask for a ClusterRole with the verb list on them/)],
    [2, '', expect.stringMatching(/no change is named; name one, such as/)],
    [2, '', expect.stringMatching(/"main=3" cannot be read; write QUEUE:FLAVOR:RESOURCE=AMOUNT/)],
  ]);
});

test('nothing is written', { timeout: LIMIT_MS }, async () => {
  const versions = async () =>
    (await Promise.all([world.client.list(JOBS), world.client.list(CLUSTER_QUEUES), world.client.list(WORKER_CLUSTERS)])).map(({ items }) =>
      items.map(({ metadata }) => [metadata.name, metadata.resourceVersion]),
    );
  const before = await versions();
  const { code, stderr } = await asking(admin, [
    '--lose',
    'east',
    '--stop',
    'main',
    '--weight',
    'main=3',
    '--priority',
    'team/waits=-1',
    '--remove',
    'flavor/default',
  ]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(await versions()).toEqual(before);
});
