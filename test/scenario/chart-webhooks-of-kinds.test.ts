/** The webhook configurations of the manager's chart, with objects of described kinds on their way through them. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { actsOn } from '../../manager/api/job-acts.ts';
import { JOB_SET_DEFINITION, JOB_SETS } from '../../manager/cli/local/job-set/definition.ts';
import { JOB_KIND } from '../../manager/work-kind/job/job-kind.ts';
import { createKinds } from '../../manager/work-kind/kinds.ts';
import type { Job, WorkObject } from '../../shared/api/kubernetes.ts';
import {
  ADMISSION_ANNOTATION,
  HOLD_ANNOTATION,
  MANAGER_CONTROLLER_NAME,
  MANAGER_FIELD_MANAGER,
  OVERRIDE_FIELD_MANAGER,
  QUEUE_NAME_LABEL,
} from '../../shared/api/names.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, JOBS, NAMESPACES, type Resource } from '../../shared/api/resources.ts';
import type { Patch } from '../../shared/kube/client.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import { systemClock } from '../../shared/runtime/clock.ts';
import { CREW_DEFINITION, shippedKind } from '../unit/manager/work-kind/described/described.ts';
import { type ChartWebhooks, createChartWebhooks, MANAGER } from './chart-webhooks-world.ts';

const SETS = JOB_SETS as unknown as Resource<WorkObject>;
const RAY_JOBS: Resource<WorkObject> = { group: 'ray.io', version: 'v1', plural: 'rayjobs', kind: 'RayJob', namespaced: true };
const RAY_DEFINITION = {
  ...CREW_DEFINITION,
  metadata: { name: 'rayjobs.ray.io' },
  spec: {
    ...CREW_DEFINITION.spec,
    group: 'ray.io',
    names: { plural: 'rayjobs', singular: 'rayjob', kind: 'RayJob', listKind: 'RayJobList' },
  },
};
const pods = { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] };
const SPECS = {
  jobsets: { replicatedJobs: [{ name: 'one', template: { spec: { template: { spec: pods } } } }] },
  rayjobs: {
    entrypoint: 'a.py',
    shutdownAfterJobFinishes: true,
    submitterPodTemplate: { spec: pods },
    rayClusterSpec: { headGroupSpec: { template: { spec: pods } } },
  },
} as const;

let world: ChartWebhooks;
beforeAll(async () => {
  world = await createChartWebhooks({
    kind: createKinds(JOB_KIND, [shippedKind('JobSet'), shippedKind('RayJob')]),
    values: ['kinds={JobSet,RayJob}', 'webhook.managedNamespaceSelector.matchLabels.managed=all'],
  });
  const { client } = world.cluster;
  for (const definition of [JOB_SET_DEFINITION, RAY_DEFINITION])
    await client.create(CUSTOM_RESOURCE_DEFINITIONS, structuredClone(definition) as never);
  await client.create(NAMESPACES, { metadata: { name: 'chosen', labels: { managed: 'all' } } });
});
afterAll(async () => {
  await world.server.close();
  await world.close();
});

const QUEUED = { [QUEUE_NAME_LABEL]: 'batch' };
const create = (of: Resource<WorkObject>, name: string, metadata: object, spec: object = {}): Promise<WorkObject> =>
  world.cluster.client.create(of, {
    metadata: { name, namespace: 'default', ...metadata },
    spec: { ...SPECS[of.plural as 'jobsets'], ...spec },
  } as never);
const key = (name: string) => ({ namespace: 'default', name });
const merge = (body: object): Patch => ({ type: 'merge', body });
const patch = (of: Resource<WorkObject>, name: string, body: object): Promise<WorkObject> =>
  world.cluster.client.patch(of, key(name), merge(body));

test.each([
  [SETS, MANAGER_CONTROLLER_NAME],
  [RAY_JOBS, 'kueue.x-k8s.io/multikueue'],
])('a queue makes it the manager’s own, and nobody but the manager releases it or tells its status: $kind', async (of, managedBy) => {
  const { spec } = await create(of, 'waiting', { labels: QUEUED });
  expect(spec).toMatchObject({ suspend: true, managedBy });
  await expect(patch(of, 'waiting', { spec: { suspend: false } })).rejects.toThrow(/spec\.suspend: is set to false by the manager/);
  await expect(patch(of, 'waiting', { metadata: { annotations: { [ADMISSION_ANNOTATION]: '{}' } } })).rejects.toThrow(
    /admission\]: is written/,
  );
  await expect(world.cluster.client.patchStatus(of, key('waiting'), merge({ status: { terminalState: 'Completed' } }))).rejects.toThrow(
    /status: is written by Switchyard only/,
  );
  const asManager = createKubeClient(world.cluster.plane.transport(MANAGER), { userAgent: 'test', clock: systemClock });
  await asManager.patch(of, key('waiting'), merge({ spec: { suspend: false } }), { fieldManager: MANAGER_FIELD_MANAGER });
  // A change of nothing but its spec, in which no field of Jobs is looked for.
  expect((await patch(of, 'waiting', { spec: { suspend: true } })).spec).toMatchObject({ suspend: true });
  await patch(of, 'waiting', { metadata: { annotations: { [HOLD_ANNOTATION]: 'true' } } });
});

test('a RayJob stays with the manager that it was created for', async () => {
  await create(RAY_JOBS, 'kept', { labels: QUEUED });
  await expect(patch(RAY_JOBS, 'kept', { spec: { managedBy: 'ray.io/kuberay-operator' } })).rejects.toThrow(
    /spec\.managedBy: says who runs the RayJob, and stays as it is/,
  );
});

test('without a queue it is the manager’s own in a namespace that is chosen for it, and nobody’s elsewhere', async () => {
  for (const of of [SETS, RAY_JOBS]) {
    const { metadata, spec } = await create(of, 'without', { namespace: 'chosen' });
    expect(metadata.labels).toEqual({ [QUEUE_NAME_LABEL]: 'default' });
    expect(spec).toMatchObject({ suspend: true });
    expect((await create(of, 'exempt', { namespace: 'chosen', labels: { [QUEUE_NAME_LABEL]: '' } })).spec).not.toHaveProperty('managedBy');
    expect((await create(of, 'elsewhere', {})).metadata.labels ?? {}).toEqual({});
  }
  const ofOperator = await create(RAY_JOBS, 'of-operator', { namespace: 'chosen' }, { managedBy: 'ray.io/kuberay-operator' });
  expect(ofOperator.spec).toMatchObject({ suspend: true, managedBy: 'kueue.x-k8s.io/multikueue' });
  const ofAnother = await create(RAY_JOBS, 'of-another', { namespace: 'chosen' }, { managedBy: 'example.com/other' });
  expect(ofAnother.spec).toMatchObject({ managedBy: 'example.com/other' });
});

test('the Jobs that an operator makes of a JobSet are its own, also in such a namespace', async () => {
  const { uid } = (await create(SETS, 'exempt-whole', { namespace: 'chosen', labels: { [QUEUE_NAME_LABEL]: '' } })).metadata;
  const owner = { apiVersion: 'jobset.x-k8s.io/v1alpha2', kind: 'JobSet', name: 'exempt-whole', uid, controller: true };
  const job: Job = await world.cluster.client.create(JOBS, {
    metadata: { name: 'part', namespace: 'chosen', ownerReferences: [owner] },
    spec: { template: { spec: pods } },
  } as never);
  expect([job.metadata.labels?.[QUEUE_NAME_LABEL], job.spec.managedBy]).toEqual([undefined, undefined]);
});

test('who passes by the rules is warned, and is on the object by the name that the API server knows', async () => {
  await create(SETS, 'overridden', { labels: QUEUED });
  const { status, body, headers } = await world.cluster.plane.transport({ name: 'root', groups: ['system:masters'] }).send({
    method: 'PATCH',
    path: `/apis/jobset.x-k8s.io/v1alpha2/namespaces/default/jobsets/overridden?fieldManager=${OVERRIDE_FIELD_MANAGER}`,
    headers: { 'content-type': 'application/merge-patch+json', accept: 'application/json' },
    body: JSON.stringify({ metadata: { annotations: { [ADMISSION_ANNOTATION]: '{}' } } }),
  });
  expect([status, String(headers['warning'])]).toEqual([200, expect.stringContaining('passes by the rules')]);
  expect(actsOn(JSON.parse(body) as Job).map(({ what, user }) => `${what} ${user}`)).toEqual(['Override root']);
});
