/**
 * Goal: a person with a terminal submits Jobs, follows them, stops them and sees who uses what, by the program against a real manager and
 * worker.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { JOBS } from '../../shared/api/resources.ts';
import { isNotFound } from '../../shared/kube/api-error.ts';
import { manifest, NAMESPACE } from '../scenario/whole-world.ts';
import { createCliWorld, type CliWorld } from './cli-world.ts';

const LIMIT_MS = 300_000;
/** All but the end of a line. */
const STEERS = /(?!\n)[\p{Cc}\p{Cf}]/u;
let cli: CliWorld;

beforeAll(async () => {
  cli = await createCliWorld();
}, LIMIT_MS);
afterAll(() => cli.close(), LIMIT_MS);

const file = (name: string, ...objects: readonly object[]): string => {
  const where = path.join(cli.folder, `${name}.yaml`);
  writeFileSync(where, objects.map((object) => stringify(object)).join('---\n'));
  return where;
};
const inTeam = (command: string, ...args: string[]): string[] => [command, '-n', NAMESPACE, ...args];
const exists = async (name: string): Promise<boolean> => {
  try {
    await cli.world.job(name);
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
};

describe('submit', { timeout: LIMIT_MS }, () => {
  test('makes the Jobs of a file, waits, and tells how each has gone', async () => {
    const jobs = file('two', manifest('one'), { ...manifest('two'), metadata: { name: 'two' } });
    const { code, stdout, stderr } = await cli.runProcess(inTeam('submit', jobs, '--queue', 'main', '--wait'));
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'team/one submitted\nteam/two submitted\n' });
    expect(stderr).toMatch(/^team\/one finished on east in \d+\.\d s \(queued \d+\.\d, dispatched \d+\.\d, pod start \d+\.\d\)$/m);
    expect(stderr).toMatch(/^team\/two finished on east /m);
  });

  test('ends with 1 when one of them fails, and says so as JSON, too', async () => {
    const jobs = file('bad', manifest('bad', { exitCode: 3, spec: { backoffLimit: 0 } }));
    const { code, stdout, stderr } = await cli.run(inTeam('submit', jobs, '--wait', '-o', 'json'));
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ jobs: [{ job: 'team/bad', result: 'submitted', outcome: 'Failed', cluster: 'east' }] });
    expect(stderr).toMatch(/team\/bad failed on east in .*: BackoffLimitExceeded/);
  });

  test('makes none where one of them cannot be made, and names file, document and field', async () => {
    const jobs = file('half', manifest('fine'), { ...manifest('wrong'), spec: {} });
    const { code, stdout, stderr } = await cli.run(inTeam('submit', jobs));
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toBe(`switchyard submit: ${jobs}, document 2: spec.template: is missing\n`);
    expect(await exists('fine')).toBe(false);
  });

  test('says with --dry-run where it would run, and makes nothing', async () => {
    const { code, stdout } = await cli.run(inTeam('submit', file('dry', manifest('dry', { cpu: '1' })), '--dry-run'));
    expect(code).toBe(0);
    expect(stdout).toContain('team/dry waits in cluster queue main, place 1 of 1');
    expect(stdout).toContain('Nothing keeps it waiting: it is admitted next.');
    expect(stdout).toContain('  east: would take it');
    expect(await exists('dry')).toBe(false);
  });

  test('takes the only LocalQueue of the namespace, and the manifests of a directory', async () => {
    const folder = path.join(cli.folder, 'sweep');
    mkdirSync(folder);
    for (const name of ['a', 'b']) writeFileSync(path.join(folder, `${name}.yaml`), stringify({ ...manifest(name), metadata: { name } }));
    writeFileSync(path.join(folder, 'notes.txt'), 'no manifest');
    const { code, stdout } = await cli.run(inTeam('submit', folder));
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'team/a submitted\nteam/b submitted\n' });
    expect((await cli.world.job('a')).metadata.labels).toMatchObject({ 'switchyard.dev/queue-name': 'main' });
    const ended = await cli.run(inTeam('cancel', 'a', 'b', 'missing', '--yes'));
    expect(ended.code).toBe(1);
    expect(ended.stdout.trimEnd().split('\n').toSorted()).toEqual(['team/a cancelled', 'team/b cancelled']);
    expect(ended.stderr).toBe('team/missing: not cancelled: there is no such Job\n');
  });

  test('refuses a queue that does not exist, also with --dry-run, and names those that do', async () => {
    const jobs = file('lost', { ...manifest('lost'), metadata: { name: 'lost' } });
    for (const more of [[], ['--dry-run']]) {
      const { code, stdout, stderr } = await cli.run(inTeam('submit', jobs, '-q', 'nosuch', ...more));
      expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
      expect(stderr).toBe('switchyard submit: --queue: namespace team has no LocalQueue "nosuch"; it has main\n');
    }
    expect(await exists('lost')).toBe(false);
  });

  test('gives up when the time is over', async () => {
    const { code, stderr } = await cli.run(
      inTeam('submit', file('never', manifest('never', { seconds: 100_000 })), '--wait', '--timeout', '1s'),
    );
    expect(code).toBe(124);
    expect(stderr).toContain('switchyard submit: team/never has not ended after 1 s; --timeout gives it more time\n');
    expect((await cli.run(inTeam('cancel', 'never'))).code).toBe(0);
  });
});

describe('run', { timeout: LIMIT_MS }, () => {
  test('makes a Job, waits for it, and ends as it ends', async () => {
    const { code, stderr } = await cli.run(inTeam('run', '--image', 'busybox', '--name', 'quick', '--', 'true'));
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringMatching(/team\/quick finished on east in \d+\.\d s \(queued /) });
    const { spec } = await cli.world.job('quick');
    expect(spec.template.spec?.containers[0]).toMatchObject({ image: 'busybox', command: ['true'] });
    expect(spec.managedBy).toBe('switchyard.dev/manager');
  });

  test('ends with the exit code of the container that fails, and deletes the Job with --rm', async () => {
    const { code, stderr } = await cli.runProcess(
      inTeam('run', '--image', 'busybox', '--name', 'three', '--rm', '--', 'sh', '-c', 'exit 3'),
    );
    expect({ code, stderr }).toEqual({
      code: 3,
      stderr: expect.stringMatching(/team\/three failed on east in .*: PodFailurePolicy, .* exit code 3 /),
    });
    await cli.until(async () => !(await exists('three')));
  });

  test('says which queue to name where there is none', async () => {
    const { code, stderr } = await cli.run(['run', '--image', 'busybox', '-n', 'switchyard']);
    expect(code).toBe(1);
    expect(stderr).toBe(
      'switchyard run: --queue: namespace switchyard has no LocalQueue; choose another with --namespace, or ask for a queue\n',
    );
  });
});

describe('get, queues and top', { timeout: LIMIT_MS }, () => {
  test('list Jobs, queues and clusters, in every form', async () => {
    await cli.world.submit('listed', { seconds: 100_000, cpu: '2' });
    await cli.until(async () => (await cli.world.job('listed')).status?.active === 1);
    const table = await cli.run(['get', 'jobs', '-A']);
    expect(table.stdout).toMatch(/^NAMESPACE +NAME +QUEUE +CLUSTER +STATE +ACTIVE +OK +FAILED +AGE$/m);
    expect(table.stdout).toMatch(/^team +listed +main +east +Running +1 +0 +0 +\d+\w*$/m);
    const way = (await cli.run(inTeam('explain', 'listed'))).stdout;
    expect(way).toMatch(
      /^Its way:\n  \S+Z  made\n  \S+Z  admitted to cluster east by cluster queue main \(after .*\)\n  \S+Z  its copy was made there /m,
    );
    expect((await cli.run(inTeam('get', 'job', 'listed', '-o', 'name'))).stdout).toBe('job.batch/listed\n');
    const asJson = JSON.parse((await cli.run(inTeam('get', 'jobs', '-o', 'json'))).stdout) as { kind: string; items: { kind: string }[] };
    expect(asJson).toMatchObject({ kind: 'List' });
    expect(new Set(asJson.items.map(({ kind }) => kind))).toEqual(new Set(['Job']));
    expect(parse((await cli.run(inTeam('get', 'queues', 'main', '-o', 'yaml'))).stdout)).toMatchObject({
      kind: 'LocalQueue',
      spec: { clusterQueue: 'main' },
    });
    expect((await cli.run(['clusters', '-o', 'wide'])).stdout).toMatch(/^NAME .*WORKER +RTT +WHY\neast +Ready /);
    expect((await cli.run(['queues'])).stdout).toMatch(/^NAME +COHORT +WAITING +ADMITTED +CPU\nmain +- +0 +1 +2\/1k\n$/);
    expect((await cli.run(['top', '--by', 'cluster'])).stdout).toMatch(/^CLUSTER +ADMITTED +WAITING +CPU +PODS\neast +1 +0 +2 +1\n$/);
    expect(JSON.parse((await cli.run(['top', '-o', 'json'])).stdout)).toEqual({
      by: 'queue',
      groups: [{ name: 'main', admitted: 1, waiting: 0, holds: { cpu: '2', pods: '1' } }],
    });
  });

  test('follow changes with -w until they are interrupted', async () => {
    const watching = cli.startProcess(inTeam('get', 'jobs', 'listed', '-w'));
    await cli.until(() => watching.said().stdout.includes('listed'));
    expect((await cli.run(inTeam('hold', 'listed'))).stdout).toBe('team/listed held\n');
    await cli.until(() => /listed .* Held /.test(watching.said().stdout));
    watching.child.kill('SIGINT');
    const { code, stdout } = await watching.outcome;
    expect(code).toBe(130);
    expect(stdout.match(/^NAME /gm)).toHaveLength(1);
    expect((await cli.run(inTeam('hold', 'listed'))).stdout).toBe('team/listed is held already\n');
    expect((await cli.run(inTeam('release', 'listed'))).stdout).toBe('team/listed released\n');
    await cli.until(async () => (await cli.world.job('listed')).status?.active === 1);
  });
});

describe('cancel', { timeout: LIMIT_MS }, () => {
  test('several at once want a yes, which nobody can give in a pipe', async () => {
    for (const name of ['a', 'b']) await cli.world.submit(name, { seconds: 100_000 });
    const { code, stderr } = await cli.run(inTeam('cancel', 'a', 'b'));
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: 'switchyard cancel: --yes: Cancel 2 Jobs (team/a, team/b)? Nobody can be asked here; write --yes to say so in advance\n',
    });
    expect(await exists('a')).toBe(true);
    expect((await cli.run(inTeam('cancel', 'a', 'b', '-y', '-o', 'json'))).stdout).toContain('"result": "cancelled"');
    await cli.until(async () => !(await exists('a')) && !(await exists('b')));
  });

  test('what is not there, or is not ours, is said so', async () => {
    expect(await cli.run(inTeam('cancel', 'nobody'))).toEqual({
      code: 1,
      stdout: '',
      stderr: 'team/nobody: not cancelled: there is no such Job\n',
    });
    const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } };
    await cli.world.home.create(JOBS, { metadata: { name: 'foreign', namespace: NAMESPACE }, spec: { template } } as never);
    expect((await cli.run(inTeam('cancel', 'foreign'))).stderr).toContain(
      'team/foreign is not Switchyard’s: its spec.managedBy names nobody',
    );
  });
});

describe('clusters', { timeout: LIMIT_MS }, () => {
  test('are cordoned, drained until they are empty, and uncordoned', async () => {
    expect(await cli.run(['cordon', 'east'])).toEqual({ code: 0, stdout: 'east takes no more Jobs\n', stderr: '' });
    expect((await cli.run(['get', 'clusters'])).stdout).toMatch(/^east +Cordoned /m);
    expect((await cli.run(['clusters', 'uncordon', 'east'])).stdout).toBe('east takes Jobs\n');
    const draining = await cli.run(inTeam('cancel', 'listed'));
    expect(draining.code).toBe(0);
    const drained = await cli.run(['clusters', 'drain', 'east', '--wait']);
    expect({ code: drained.code, stdout: drained.stdout }).toEqual({ code: 0, stdout: 'east takes no more Jobs, and its Jobs move\n' });
    expect((await cli.run(['drain', 'nowhere'])).stderr).toContain('workerclusters.switchyard.dev "nowhere" not found');
  });
});

describe('a cluster that cannot be used', { timeout: LIMIT_MS }, () => {
  test('that does not answer', async () => {
    const kubeconfig = file('dead', {
      apiVersion: 'v1',
      kind: 'Config',
      clusters: [{ name: 'c', cluster: { server: 'https://127.0.0.1:1' } }],
      contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
      users: [{ name: 'u', user: { token: 't' } }],
      'current-context': 'c',
    });
    const { code, stderr } = await cli.run(['get', 'jobs'], { kubeconfig });
    expect(code).toBe(3);
    expect(stderr).toMatch(
      /^switchyard get: the manager cluster \(https:\/\/127\.0\.0\.1:1\) cannot be reached: the connection was refused \(ECONNREFUSED\); look at /,
    );
  });

  test('that does not know who asks', async () => {
    const stranger = parse(readFileSync(cli.kubeconfig, 'utf8'));
    stranger.users[0].user = { token: 'none' };
    const { code, stderr } = await cli.run(['get', 'jobs'], { kubeconfig: file('stranger', stranger) });
    expect({ code, stderr }).toEqual({
      code: 3,
      stderr:
        'switchyard get: the manager cluster does not know who you are; renew the credentials of the kubeconfig, or choose another with --context\n',
    });
  });
});

test('what somebody writes into an object reaches no terminal raw', { timeout: LIMIT_MS }, async () => {
  const evil = '\u001b[2Jgone\u009b31m\u202e';
  await cli.world.submit('hostile', { seconds: 100_000, annotations: { 'example.com/note': evil } });
  const record = { type: 'QuotaReserved', status: 'False', reason: 'X', message: evil, lastTransitionTime: '2026-01-01T00:00:00Z' };
  await cli.world.home.patchStatus(
    JOBS,
    { namespace: NAMESPACE, name: 'hostile' },
    { type: 'merge', body: { status: { conditions: [record] } } },
  );
  for (const form of ['wide', 'json', 'yaml']) {
    const { stdout } = await cli.run(inTeam('get', 'jobs', 'hostile', '-o', form));
    expect(stdout, form).not.toMatch(STEERS);
    if (form === 'json') expect(JSON.parse(stdout).metadata.annotations['example.com/note']).toBe(evil);
    if (form === 'yaml') expect(parse(stdout).metadata.annotations['example.com/note']).toBe(evil);
  }
  expect((await cli.run(inTeam('get', 'jobs', `no${evil}`))).stderr).not.toMatch(STEERS);
});
