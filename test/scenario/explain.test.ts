/**
 * Goal: whoever may list what admission looks at learns from the real program, over the real API, why a Job waits, and what would make it
 * run; and doing that makes it run.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { CLUSTER_QUEUES } from '../../manager/api/cluster-queue.ts';
import { JOBS } from '../../shared/api/resources.ts';
import { createAdmissionWorld, NAMESPACE, type AdmissionWorld } from './admission-world.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const LIMIT_MS = 120_000;

let world: AdmissionWorld;
let folder: string;
let admin: string;
let nobody: string;

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'switchyard-explain-'));
  // The program looks at the clock of this machine: what has ended here has ended within the last hour, and the holder runs for some
  // minutes then.
  world = await createAdmissionWorld({ startedMs: Date.now() - 55 * 60_000 });
  admin = path.join(folder, 'admin');
  const text = await world.listen();
  writeFileSync(admin, text);
  nobody = path.join(folder, 'nobody');
  const { users, ...rest } = parse(text);
  writeFileSync(nobody, stringify({ ...rest, users: users.map(({ name }: { name: string }) => ({ name, user: {} })) }));
  await world.flavor('default');
  await world.queue('main', { cpu: '4' });
  await world.cluster('eu-1');
  // What has ended is what run times are told from.
  for (const minutes of [8, 9, 10, 11, 12]) {
    const name = `past-${minutes}`;
    await world.job(name, { cpu: '4' });
    await world.settle(minutes * 60_000);
    await world.finish(name);
    await world.settle(1_000);
  }
  await world.job('holder', { cpu: '3' });
  await world.settle(1_000);
  await world.job('waits', { cpu: '2' });
  await world.settle(3_000);
}, LIMIT_MS);
afterAll(async () => {
  await world.close();
  rmSync(folder, { recursive: true });
});

type Outcome = { readonly code: number | null; readonly stdout: string; readonly stderr: string };
function explaining(kubeconfig: string, ...args: readonly string[]): Promise<Outcome> {
  const child = spawn(process.execPath, ['manager/cli/explain.ts', '--kubeconfig', kubeconfig, ...args], { cwd: ROOT });
  const output = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.stderr += text));
  return new Promise((resolve, reject) => {
    child.once('error', reject).once('close', (code) => resolve({ code, ...output }));
  });
}

test('the owner of a Job that waits reads why, and what would make it run', { timeout: LIMIT_MS }, async () => {
  const { code, stdout, stderr } = await explaining(admin, 'team/waits');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  const estimate =
    /^Estimated start: (\S+); 80 of 100: (\S+) to\s+(\S+)\n {2}based on the run times of 5 Jobs of cluster queue main, if no other Job\s+arrives\n/m;
  const heldSinceMs = Date.parse((await world.record('holder'))?.since ?? '');
  const [, at = '', earliest = '', latest = ''] = estimate.exec(stdout) ?? [];
  const minutes = [earliest, at, latest].map((time) => (Date.parse(time) - heldSinceMs) / 60_000);
  expect(minutes).toEqual(minutes.toSorted((a, b) => a - b));
  expect(minutes[1], stdout).toBeGreaterThan(5);
  expect(minutes[1], stdout).toBeLessThan(15);
  // Nobody exports any.
  expect(stdout).not.toContain('trace');
  expect(stdout.replace(estimate, '')).toBe(`team/waits waits in cluster queue main, place 1 of 1, priority 0. It asks
    for 2 cpu, 1 pod.
Why (InsufficientQuota): cluster queue main: flavor default is short of 1
    cpu
Quota:
  flavor default, cpu: asks for 2, 1 free (nominal 4), short of 1; held by
      team/holder (3)
Clusters:
  eu-1: would take it
It would run now if one of these were true (each was tried on a copy):
  - each of its pods asked for 1 cpu
  - cluster queue main had 1 cpu more of flavor default
  - Job team/holder ended
`);
});

test('a Job that runs is said to be where it is', { timeout: LIMIT_MS }, async () => {
  const { code, stdout } = await explaining(admin, 'team/holder', '--output', 'json');
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ kind: 'Admitted', cluster: 'eu-1', requests: { cpu: '3' }, clusterQueue: 'main' });
});

test('what cannot be answered is said in one line', { timeout: LIMIT_MS }, async () => {
  await world.client.create(JOBS, {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'theirs', namespace: NAMESPACE },
    spec: { suspend: true, template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } } },
  } as never);
  const outcomes = await Promise.all([
    explaining(admin, 'team/absent'),
    explaining(admin, 'team/theirs'),
    explaining(nobody, 'team/waits'),
    explaining(admin, 'waits'),
  ]);
  expect(outcomes.map(({ code, stdout, stderr }) => [code, stdout, stderr.trimEnd()])).toEqual([
    [
      1,
      '',
      'explain: there is no Job absent in namespace team; switchyard get jobs -n team lists those that there are (-A: in all namespaces), switchyard history those that have ended',
    ],
    [1, '', expect.stringMatching(/^explain: Job team\/theirs is not Switchyard’s: it has no label switchyard\.dev\/queue-name, /)],
    [1, '', expect.stringMatching(/^explain: the manager cluster refused: .*forbidden/)],
    [2, '', 'explain: name one Job as NAMESPACE/NAME, such as npm run -s explain -- team/train'],
  ]);
});

test('the quota that it named makes the Job run', { timeout: LIMIT_MS }, async () => {
  const { stdout } = await explaining(admin, 'team/waits', '--output', 'json');
  expect(JSON.parse(stdout)).toMatchObject({
    changes: expect.arrayContaining([{ kind: 'MoreQuota', clusterQueue: 'main', flavor: 'default', by: { cpu: '1' } }]),
  });
  const resourceGroups = [{ coveredResources: ['cpu'], flavors: [{ name: 'default', resources: [{ name: 'cpu', nominalQuota: '5' }] }] }];
  await world.client.patch(CLUSTER_QUEUES, { namespace: '', name: 'main' }, { type: 'merge', body: { spec: { resourceGroups } } });
  await world.settle(3_000);
  expect(await world.running()).toEqual(['holder', 'waits']);
});
