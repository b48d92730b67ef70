/**
 * Goal: a person with a terminal submits, lists, explains, holds, releases and cancels objects of described kinds as Jobs, and reads their
 * logs and history.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { WORK_KINDS } from '../../manager/api/work-kind.ts';
import type { WorkObject } from '../../shared/api/kubernetes.ts';
import { HOLD_ANNOTATION } from '../../shared/api/names.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, PODS, type Resource } from '../../shared/api/resources.ts';
import { HOME, NAMESPACE } from '../scenario/whole-world.ts';
import { aCrew, aCrewKind, aCrewPod, CREW_DEFINITION, CREW_SPEC } from '../unit/manager/work-kind/described/described.ts';
import { createCliWorld, type CliWorld } from './cli-world.ts';

const LIMIT_MS = 300_000;
const CREWS: Resource<WorkObject> = { group: 'example.com', version: 'v1', plural: 'crews', kind: 'Crew', namespaced: true };
let cli: CliWorld;
let east: string;

beforeAll(async () => {
  cli = await createCliWorld(['east'], {
    keepsLogs: true,
    kinds: [aCrewKind()],
    async install(client, cluster) {
      await client.create(CUSTOM_RESOURCE_DEFINITIONS, CREW_DEFINITION as never);
      if (cluster === HOME) await client.create(WORK_KINDS, { metadata: { name: 'crews.example.com' }, spec: CREW_SPEC });
    },
  });
  east = await cli.listen('east');
}, LIMIT_MS);
afterAll(() => cli.close(), LIMIT_MS);

const file = (name: string, object: object): string => {
  const where = path.join(cli.folder, `${name}.yaml`);
  writeFileSync(where, stringify(object));
  return where;
};
const { labels } = aCrew().metadata;
const crewFile = (metadata: object): string => {
  const { apiVersion, kind, spec } = aCrew();
  return file('crew', { apiVersion, kind, spec, metadata: { labels, ...metadata } });
};
const inTeam = (command: string, ...args: string[]): string[] => [command, '-n', NAMESPACE, ...args];
const crew = (name: string): Promise<WorkObject> => cli.world.home.get(CREWS, { namespace: NAMESPACE, name });

test('a manifest of the kind is submitted as a Job is, held, released, explained and cancelled by its kind and name', {
  timeout: LIMIT_MS,
}, async () => {
  const submitted = await cli.run(inTeam('submit', crewFile({ name: 'argo' })));
  expect({ ...submitted, code: 0 }).toMatchObject({ code: 0, stdout: 'Crew team/argo submitted\n' });
  expect((await crew('argo')).spec).toMatchObject({ policy: { managedBy: 'example.com/elsewhere' } });

  const explained = await cli.run(inTeam('explain', 'crew/argo'));
  expect(explained.stdout).toMatch(/^Crew team\/argo (waits|is admitted)/);
  expect(await cli.run(inTeam('hold', 'crews.example.com/argo'))).toMatchObject({ code: 0, stdout: 'Crew team/argo held\n' });
  expect((await crew('argo')).metadata.annotations?.[HOLD_ANNOTATION]).toBe('true');
  expect(await cli.run(inTeam('release', 'crew/argo'))).toMatchObject({ code: 0, stdout: 'Crew team/argo released\n' });
  expect((await crew('argo')).metadata.annotations?.[HOLD_ANNOTATION]).toBeUndefined();
  expect(await cli.run(inTeam('cancel', 'crew/argo'))).toMatchObject({ code: 0, stdout: 'Crew team/argo cancelled\n' });
  await cli.until(async () => (await cli.world.home.list(CREWS)).items.length === 0);
});

test('one without a name is named by the API server, and its end is waited for', { timeout: LIMIT_MS }, async () => {
  const running = cli.start(inTeam('submit', crewFile({ generateName: 'argo-' }), '--wait'));
  await cli.until(async () => (await cli.world.client('east').list(CREWS)).items.length === 1);
  const [copy] = (await cli.world.client('east').list(CREWS)).items;
  const lastTransitionTime = new Date(cli.world.clock.now()).toISOString().replace(/\.\d+Z/, 'Z');
  const arrived = { type: 'Arrived', status: 'True', reason: 'Colchis', message: 'there', lastTransitionTime };
  const body = { status: { phase: 'Moored', conditions: [arrived] } };
  await cli.world.client('east').patchStatus(CREWS, { namespace: NAMESPACE, name: copy?.metadata.name ?? '' }, { type: 'merge', body });
  let outcome: Awaited<typeof running.outcome> | undefined;
  void running.outcome.then((value) => (outcome = value));
  await cli.until(() => outcome !== undefined);
  expect(outcome?.stdout).toMatch(/^Crew team\/argo-[a-z0-9]+ submitted\n$/);
  expect(outcome?.stderr).toMatch(/Crew team\/argo-[a-z0-9]+ finished on east/);
  expect(outcome?.code).toBe(0);
});

test('a manifest of a kind that is not taken is refused with those that are', { timeout: LIMIT_MS }, async () => {
  const raft = file('raft', { apiVersion: 'example.com/v1', kind: 'Raft', metadata: { name: 'a', labels }, spec: {} });
  const { code, stderr } = await cli.run(inTeam('submit', raft));
  expect(code).toBe(1);
  expect(stderr).toContain('apiVersion and kind: are "example.com/v1 Raft", and the manager takes batch/v1 Job, example.com/v1 Crew');
});

test('objects are listed by the words that kubectl knows, and beside Jobs in one table', { timeout: LIMIT_MS }, async () => {
  await cli.run(
    inTeam('submit', crewFile({ name: 'same', labels: { ...labels, pair: 'same' }, annotations: { [HOLD_ANNOTATION]: 'true' } })),
  );
  const job = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name: 'same', labels: { ...labels, pair: 'same' } },
    spec: { template: aCrewPod('100m') },
  };
  await cli.run(inTeam('submit', file('same', { ...job, metadata: { ...job.metadata, annotations: { [HOLD_ANNOTATION]: 'true' } } })));
  for (const words of [['crews'], ['crew'], ['crews.example.com'], ['crew', 'same'], ['crew/same']]) {
    const { code, stdout } = await cli.run(inTeam('get', ...words));
    expect({ words, code }).toEqual({ words, code: 0 });
    expect(stdout).toMatch(/^NAME +QUEUE +CLUSTER/);
    expect(stdout).toMatch(/^same +main +- +(Held|Waiting)/m);
  }
  for (const words of [[], ['all']]) {
    const { stdout } = await cli.run(inTeam('get', ...words));
    expect(stdout).toMatch(/^NAME +KIND +QUEUE/);
    expect(stdout).toMatch(/^same +Job +main/m);
    expect(stdout).toMatch(/^same +Crew +main/m);
    expect(stdout).not.toContain('example.com:');
  }
  expect((await cli.run(inTeam('get', 'jobs'))).stdout).not.toMatch(/KIND|Crew/);
  const both = await cli.run(inTeam('get', 'crew/same', 'job/same', '-o', 'name'));
  expect(both.stdout).toBe('job.batch/same\ncrew.example.com/same\n');
  const read = parse((await cli.run(inTeam('get', 'crew/same', '-o', 'yaml'))).stdout) as WorkObject;
  expect(read).toMatchObject({ apiVersion: 'example.com/v1', kind: 'Crew', metadata: { name: 'same' } });
  const held = await cli.run(inTeam('release', '-l', 'pair=same', '--yes'));
  expect(held.stdout.trim().split('\n').toSorted()).toEqual(['Crew team/same released', 'team/same released']);
  await cli.run(inTeam('cancel', 'crew/same', 'job/same', '--yes'));
});

test('changes of all kinds are followed in one table', { timeout: LIMIT_MS }, async () => {
  const watching = cli.startProcess(inTeam('get', 'all', '-w'));
  await cli.until(() => /^argo-\w+ +Crew/m.test(watching.said().stdout));
  await cli.run(inTeam('submit', crewFile({ name: 'late', annotations: { [HOLD_ANNOTATION]: 'true' } })));
  await cli.until(() => /^late +Crew .* Held /m.test(watching.said().stdout));
  await cli.run(inTeam('cancel', 'crew/late'));
  watching.child.kill('SIGINT');
  const { code, stdout } = await watching.outcome;
  expect(code).toBe(130);
  expect(stdout.match(/^NAME +KIND /gm)).toHaveLength(1);
});

test('a kind that is not taken, and an object that is not there, are named', { timeout: LIMIT_MS }, async () => {
  const unknown = await cli.run(inTeam('get', 'rafts'));
  expect({ ...unknown, stdout: '' }).toEqual({
    code: 2,
    stdout: '',
    stderr: 'switchyard get: KIND: the manager takes no kind rafts; it takes jobs, crews; queues and clusters are listed, too\n',
  });
  for (const command of ['hold', 'explain', 'logs']) {
    const { code, stderr } = await cli.run(inTeam(command, 'rafts.example.com/argo'));
    expect(code).toBe(1);
    expect(stderr).toContain('JOB: the manager takes no kind rafts.example.com; it takes jobs, crews');
  }
  const missing = await cli.run(inTeam('hold', 'crew/none'));
  expect({ code: missing.code, stderr: missing.stderr }).toEqual({ code: 1, stderr: 'Crew team/none: not held: there is no such Crew\n' });
});

test('they are counted by top, and looked at by doctor, as Jobs are', { timeout: LIMIT_MS }, async () => {
  type Groups = { readonly groups: readonly { readonly admitted: number; readonly waiting: number; readonly holds: object }[] };
  const sums = async (selector: string): Promise<Groups['groups']> =>
    (JSON.parse((await cli.run(['top', '-l', selector, '-o', 'json'])).stdout) as Groups).groups;
  const metadata = (name: string, more: object = {}) => ({ name, labels: { ...labels, fleet: name }, ...more });
  await cli.run(inTeam('submit', crewFile(metadata('counted'))));
  await cli.until(async () => (await sums('fleet=counted')).some(({ admitted }) => admitted === 1));
  expect(await sums('fleet=counted')).toMatchObject([{ admitted: 1, waiting: 0, holds: { cpu: '8500m', pods: '6' } }]);
  await cli.run(inTeam('submit', crewFile(metadata('held', { annotations: { [HOLD_ANNOTATION]: 'true' } }))));
  expect(await sums('fleet=held')).toMatchObject([{ admitted: 0, waiting: 1 }]);

  // An operator of home has kept its hands on one that no webhook has seen.
  const { spec } = aCrew();
  await cli.world.home.create(CREWS, { metadata: metadata('theirs', { namespace: NAMESPACE }), spec });
  const { stdout } = await cli.run(['doctor', '-o', 'json']);
  const { checks } = JSON.parse(stdout) as { readonly checks: readonly { readonly check: string; readonly found: string }[] };
  expect(checks.filter(({ check }) => check === 'jobs')).toMatchObject([
    { check: 'jobs', found: expect.stringMatching(/^1 with the label .* is not Switchyard’s, such as Crew team\/theirs$/) },
  ]);
  await cli.run(inTeam('cancel', 'crew/counted', 'crew/held', '--yes'));
  await cli.world.home.delete(CREWS, { namespace: NAMESPACE, name: 'theirs' });
});

test('its pods are found by their labels, and when it is over, its history by kind and name', { timeout: LIMIT_MS }, async () => {
  await cli.run(inTeam('submit', crewFile({ name: 'gone' })));
  const key = { namespace: NAMESPACE, name: 'gone' };
  const onEast = cli.world.client('east');
  await cli.until(async () => (await onEast.list(CREWS)).items.some(({ metadata }) => metadata.name === 'gone'));
  const logs = (...flags: string[]): string[] => inTeam('logs', 'crew/gone', '--cluster-kubeconfig', east, ...flags);
  expect(await cli.run(logs())).toEqual({ code: 0, stdout: '', stderr: 'Crew team/gone has no such pods now\n' });
  const spec = {
    restartPolicy: 'Never',
    terminationGracePeriodSeconds: 0,
    containers: [{ name: 'main', image: 'busybox', command: ['sh', '-c', 'echo row; sleep 60'] }],
  };
  for (const [name, crewName] of [
    ['rower', 'gone'],
    ['other', 'argo'],
  ])
    await onEast.create(PODS, { metadata: { namespace: NAMESPACE, name, labels: { 'example.com/crew': crewName } }, spec } as never);
  let printed: Awaited<ReturnType<CliWorld['run']>> | undefined;
  await cli.until(async () => (printed = await cli.run(logs())).stdout !== '');
  expect(printed).toMatchObject({ code: 0, stdout: 'row\n' });
  const following = cli.start(logs('-f'));
  await cli.until(() => following.said().stdout.endsWith('row\n'));
  for (const name of ['rower', 'other']) await onEast.delete(PODS, { namespace: NAMESPACE, name }, { propagationPolicy: 'Background' });

  const lastTransitionTime = new Date(cli.world.clock.now()).toISOString().replace(/\.\d+Z/, 'Z');
  const arrived = { type: 'Arrived', status: 'True', reason: 'Colchis', message: 'there', lastTransitionTime };
  await onEast.patchStatus(CREWS, key, { type: 'merge', body: { status: { phase: 'Moored', conditions: [arrived] } } });
  await cli.until(async () => (await cli.world.home.get(CREWS, key)).status?.conditions?.some(({ type }) => type === 'Complete') ?? false);
  let followed: Awaited<typeof following.outcome> | undefined;
  void following.outcome.then((outcome) => (followed = outcome));
  await cli.until(() => followed !== undefined);
  expect(followed).toMatchObject({ code: 0, stderr: '' });
  const history = (...words: string[]) =>
    cli.run(['history', '-n', NAMESPACE, '--history-store', path.join(cli.folder, 'history'), ...words]);
  await cli.until(async () => /^gone/m.test((await history()).stdout));
  expect((await history()).stdout).toMatch(/^gone +Crew +Complete/m);
  for (const operand of ['gone', 'crew/gone', 'crews.example.com/gone'])
    expect((await history(operand)).stdout, operand).toMatch(/^gone +Crew +Complete/m);
  for (const operand of ['job/gone', 'raft/gone']) expect((await history(operand)).stderr, operand).toBe('There is no such history.\n');
});

test('why it failed is told by submit, by its logs and by its history, when all is gone', {
  timeout: LIMIT_MS,
}, async () => {
  const running = cli.start(inTeam('submit', crewFile({ name: 'sunk' }), '--wait'));
  const key = { namespace: NAMESPACE, name: 'sunk' };
  const onEast = cli.world.client('east');
  await cli.until(async () => (await onEast.list(CREWS)).items.some(({ metadata }) => metadata.name === 'sunk'));
  const { metadata } = await onEast.get(CREWS, key);
  const controller = { apiVersion: 'example.com/v1', kind: 'Crew', name: 'sunk', uid: metadata.uid, controller: true };
  const containers = [{ name: 'main', image: 'busybox', command: ['sh', '-c', 'echo the oar broke; exit 7'] }];
  await onEast.create(PODS, {
    metadata: { namespace: NAMESPACE, name: 'sunk-oars', labels: { 'example.com/crew': 'sunk' }, ownerReferences: [controller] },
    spec: { restartPolicy: 'Never', containers },
  } as never);
  await cli.until(async () => (await onEast.get(PODS, { namespace: NAMESPACE, name: 'sunk-oars' })).status?.phase === 'Failed');
  const lastTransitionTime = new Date(cli.world.clock.now()).toISOString().replace(/\.\d+Z/, 'Z');
  const conditions = [{ type: 'Sunk', status: 'True', reason: 'Storm', message: 'no oars', lastTransitionTime }];
  await onEast.patchStatus(CREWS, key, { type: 'merge', body: { status: { phase: 'Moored', conditions } } });
  let outcome: Awaited<typeof running.outcome> | undefined;
  void running.outcome.then((value) => (outcome = value));
  await cli.until(() => outcome !== undefined);
  expect(outcome?.stderr).toContain('ended with exit code 7: the oar broke');
  expect(outcome?.code).toBe(1);
  await cli.until(async () => !(await onEast.list(CREWS)).items.some(({ metadata: { name } }) => name === 'sunk'));
  const store = ['--history-store', path.join(cli.folder, 'history')];
  let printed: Awaited<ReturnType<CliWorld['run']>> | undefined;
  await cli.until(async () => (printed = await cli.run(inTeam('logs', 'crew/sunk', ...store))).stdout !== '');
  expect(printed?.stdout).toBe('the oar broke\n');
  expect(printed?.stderr).toContain('pod sunk-oars on cluster "east" ended with exit code 7');
  expect((await cli.run(inTeam('history', 'crew/sunk', ...store))).stdout).toMatch(/^sunk +Crew +Failed/m);
});

test('a kind whose definition is gone is left out of the table, and said to be', { timeout: LIMIT_MS }, async () => {
  const spec = { ...CREW_SPEC, resource: 'rafts', kind: 'Raft' };
  await cli.world.home.create(WORK_KINDS, { metadata: { name: 'rafts.example.com' }, spec });
  await cli.run(inTeam('submit', crewFile({ name: 'seen', annotations: { [HOLD_ANNOTATION]: 'true' } })));
  const { code, stdout, stderr } = await cli.run(inTeam('get'));
  expect(stdout).toMatch(/^seen +Crew +/m);
  expect(stderr).toBe('no rafts are shown: the cluster does not serve rafts.example.com; its WorkKind is left\n');
  expect(code).toBe(0);
});
