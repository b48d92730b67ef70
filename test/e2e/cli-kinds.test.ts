/** Goal: a person with a terminal submits, explains, holds, releases and cancels objects of described kinds as Jobs. */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { WORK_KINDS } from '../../manager/api/work-kind.ts';
import type { WorkObject } from '../../shared/api/kubernetes.ts';
import { HOLD_ANNOTATION } from '../../shared/api/names.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, type Resource } from '../../shared/api/resources.ts';
import { HOME, NAMESPACE } from '../scenario/whole-world.ts';
import { aCrew, aCrewKind, CREW_DEFINITION, CREW_SPEC } from '../unit/manager/work-kind/described/described.ts';
import { createCliWorld, type CliWorld } from './cli-world.ts';

const LIMIT_MS = 300_000;
const CREWS: Resource<WorkObject> = { group: 'example.com', version: 'v1', plural: 'crews', kind: 'Crew', namespaced: true };
let cli: CliWorld;

beforeAll(async () => {
  cli = await createCliWorld(['east'], {
    kinds: [aCrewKind()],
    async install(client, cluster) {
      await client.create(CUSTOM_RESOURCE_DEFINITIONS, CREW_DEFINITION as never);
      if (cluster === HOME) await client.create(WORK_KINDS, { metadata: { name: 'crews.example.com' }, spec: CREW_SPEC });
    },
  });
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
