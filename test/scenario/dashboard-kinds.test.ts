/** Goal: objects of other kinds stand on the dashboard beside Jobs, under their own names, and are acted on as Jobs are. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { ActionResult, JobPage, JobView } from '../../manager/dashboard/views.ts';
import type { Unsaved, WorkObject } from '../../shared/api/kubernetes.ts';
import { HOLD_ANNOTATION } from '../../shared/api/names.ts';
import { CUSTOM_RESOURCE_DEFINITIONS } from '../../shared/api/resources.ts';
import { aCrew, aCrewKind, CREW_DEFINITION, CREWS } from '../unit/manager/work-kind/described/described.ts';
import { serveTestDashboard, type ServedDashboard } from './served-dashboard.ts';

const KEY = { namespace: 'ann', name: 'argo' };
const CREW_KEY = 'ann/crews.example.com/argo';
const ONE = '/api/v1/namespaces/ann/crews.example.com/argo';

let served: ServedDashboard;
let { clock, cluster, createJob, get, people, server }: ServedDashboard = {} as ServedDashboard;
beforeEach(async () => {
  served = await serveTestDashboard({
    kinds: [aCrewKind()],
    async install(client) {
      await client.create(CUSTOM_RESOURCE_DEFINITIONS, CREW_DEFINITION as never);
      await clock?.advance(1_000);
    },
  });
  ({ clock, cluster, createJob, get, people, server } = served);
  people['ann'] = { namespaces: ['ann'], queues: false, acts: true, kinds: ['crews'] };
  people['guest'] = { namespaces: ['ann'], queues: false, acts: true };
  await createJob('ann', 'argo');
  const { metadata, spec } = aCrew();
  const policy = { suspend: true, managedBy: 'example.com/elsewhere' };
  await cluster.client.create(CREWS, {
    metadata: { ...KEY, labels: metadata.labels ?? {} },
    spec: { ...spec, policy },
  } as unknown as Unsaved<WorkObject>);
  await clock.advance(1_000);
});
afterEach(() => served.close());

const act = async (token: string, body: object): Promise<ActionResult> => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'x-switchyard-dashboard': '1' };
  const response = await fetch(`${server.url}/api/v1/actions`, { method: 'POST', headers, body: JSON.stringify(body) });
  return (await response.json()) as ActionResult;
};

test('a Job and an object of another kind with its name are two lines, each with a page of its own', async () => {
  const { jobs } = (await get<JobPage>('/api/v1/jobs?order=name', 'ann')).body;
  expect(jobs.map(({ key, kind, state }) => ({ key, kind, state }))).toEqual([
    { key: 'ann/argo', kind: undefined, state: 'Waiting' },
    { key: CREW_KEY, kind: 'Crew', state: 'Waiting' },
  ]);
  expect((await get<JobPage>('/api/v1/jobs?kind=Crew', 'ann')).body.jobs.map(({ key }) => key)).toEqual([CREW_KEY]);
  expect((await get<JobPage>('/api/v1/jobs?group=kind', 'ann')).body.groups).toEqual([
    { key: 'Crew', count: 1 },
    { key: 'Job', count: 1 },
  ]);
  const crew = (await get<JobView>(ONE, 'ann')).body;
  expect(crew.line).toMatchObject({ key: CREW_KEY, kind: 'Crew' });
  expect(crew.facts).toContainEqual({ name: 'Pod sets', value: 'captain 1, deck 2, oars 3' });
  expect((await get<JobView>('/api/v1/namespaces/ann/jobs/argo', 'ann')).body.line).not.toHaveProperty('kind');
  const response = await fetch(`${server.url}${ONE}/yaml`, { headers: { authorization: 'Bearer ann' } });
  expect(await response.text()).toMatch(/kind: Crew\n[^]*name: argo\n/);
});

test('nothing that is answered has the name that the manager uses', async () => {
  for (const path of ['/api/v1/jobs', ONE, `${ONE}/pods`, `${ONE}/events`, '/api/v1/namespaces/ann/crews.example.com/none'])
    expect(JSON.stringify((await get(path, 'ann')).body), path).not.toContain('example.com:');
  expect(await get('/api/v1/namespaces/ann/crews.example.com/none', 'ann')).toMatchObject({
    status: 404,
    body: { message: 'there is no Crew ann/none' },
  });
  expect(await get('/api/v1/namespaces/ann/secrets/argo', 'ann')).toMatchObject({ status: 404 });
});

test('an object of another kind is shown to users who may get it, and acted on by users who may write it', async () => {
  for (const part of ['', '/explanation', '/yaml', '/pods', '/pods/x/log', '/events'])
    expect(await get(`${ONE}${part}`, 'guest'), part).toMatchObject({ status: 403 });
  const both = { action: 'Hold', jobs: ['ann/argo', CREW_KEY], count: 2 };
  expect(await act('guest', both)).toMatchObject({ done: 1, results: [{ outcome: 'Done' }, { name: CREW_KEY, outcome: 'Refused' }] });
  expect((await cluster.client.get(CREWS, KEY)).metadata.annotations ?? {}).not.toHaveProperty([HOLD_ANNOTATION]);
  expect(await act('ann', both)).toMatchObject({ done: 2 });
  expect((await cluster.client.get(CREWS, KEY)).metadata.annotations).toMatchObject({ [HOLD_ANNOTATION]: 'true' });
  await clock.advance(1_000);
  expect(await act('ann', { action: 'Cancel', jobs: [CREW_KEY], count: 1 })).toMatchObject({ done: 1 });
  await clock.advance(1_000);
  expect((await get<JobPage>('/api/v1/jobs', 'ann')).body.jobs.map(({ key }) => key)).toEqual(['ann/argo']);
});
