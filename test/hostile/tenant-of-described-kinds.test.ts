/**
 * The adversary may do anything to objects of described kinds in one namespace of the manager cluster, to their status, too, and no webhook
 * is in force: only the admission policies of the chart. They want pods without quota, and to have the manager believe what is not so. The
 * manager, by the account of the chart, has to do its work all the same.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { writtenRecordOf } from '../../manager/api/records.ts';
import { JOB_SET_DEFINITION, JOB_SETS } from '../../manager/cli/local/job-set/definition.ts';
import { runJobSetOperator } from '../../manager/cli/local/job-set/operator.ts';
import type { Unsaved, WorkObject } from '../../shared/api/kubernetes.ts';
import {
  ADMISSION_ANNOTATION,
  CHECK_FIELD_MANAGER,
  CLUSTER_LABEL,
  COPIES_FINALIZER,
  FENCED_ANNOTATION,
  HOLD_ANNOTATION,
  MANAGER_FIELD_MANAGER,
  ORIGIN_LABEL,
  OVERRIDE_FIELD_MANAGER,
  PRIORITY_ANNOTATION,
  QUEUE_NAME_LABEL,
  STATUS_ANNOTATION,
  SUBMISSION_ANNOTATION,
} from '../../shared/api/names.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, type Resource } from '../../shared/api/resources.ts';
import type { KubeClient, Patch } from '../../shared/kube/client.ts';
import { findCondition } from '../../shared/kube/conditions.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { seededRandom } from '../../shared/runtime/random.ts';
import { createWholeWorld, HOME, manifest, NAMESPACE, type WholeWorld } from '../scenario/whole-world.ts';
import { createCrds } from '../support/crds.ts';
import { ofKind, renderChart } from '../support/helm.ts';
import { aCrewKind, CREW_DEFINITION, CREWS, shippedKind } from '../unit/manager/work-kind/described/described.ts';

/** As the chart names it. */
const MANAGER = { name: 'system:serviceaccount:switchyard:test-switchyard-manager', groups: ['system:masters'] };
const resource = (group: string, plural: string, kind: string): Resource<WorkObject> => ({
  group,
  version: 'v1',
  plural,
  kind,
  namespaced: true,
});
const RAY_JOBS = resource('ray.io', 'rayjobs', 'RayJob');
const PYTORCH_JOBS = resource('kubeflow.org', 'pytorchjobs', 'PyTorchJob');
/** A definition that lets users write anything. */
const definitionOf = ({ group, plural, kind }: Resource<WorkObject>): object => ({
  ...CREW_DEFINITION,
  metadata: { name: `${plural}.${group}` },
  spec: { ...CREW_DEFINITION.spec, group, names: { plural, singular: kind.toLowerCase(), kind, listKind: `${kind}List` } },
});

let world: WholeWorld;
let tenant: KubeClient;
let clientOf: (name: string) => KubeClient;
const stop = new AbortController();
const operators: Promise<void>[] = [];

beforeAll(async () => {
  world = await createWholeWorld({
    clusters: ['east'],
    async install(client, cluster) {
      if (cluster === HOME) await createCrds(client);
      for (const definition of [JOB_SET_DEFINITION, CREW_DEFINITION, definitionOf(RAY_JOBS), definitionOf(PYTORCH_JOBS)])
        await client.create(CUSTOM_RESOURCE_DEFINITIONS, structuredClone(definition) as never);
      if (cluster === HOME) await installPolicies(client);
    },
  });
  clientOf = (name) =>
    createKubeClient(world.plane(HOME).transport({ name, groups: ['system:masters'] }), { userAgent: 'test', clock: world.clock });
  tenant = clientOf('mallory');
  world.startWorker('east', 'worker-east');
  operators.push(
    runJobSetOperator({ client: world.client('east'), clock: world.clock, random: seededRandom(1), log: silentLogger }, stop.signal),
  );
  world.startManager('one', {
    user: (cluster) => (cluster === HOME ? MANAGER : { name: 'manager', groups: ['system:masters'] }),
    parts: { kinds: [shippedKind('JobSet'), shippedKind('RayJob'), shippedKind('PyTorchJob'), aCrewKind()] },
  });
  await world.clock.advance(15_000);
});
afterAll(async () => {
  stop.abort(new Error('the test ends'));
  await Promise.all(operators);
  await world.close();
});

/** Those of the chart for these kinds, of which one is the user's own. */
async function installPolicies(client: KubeClient): Promise<void> {
  const here = ['localWorker.enabled=true', 'localWorker.users={worker-here}'];
  const rendered = renderChart('manager', 'kinds={JobSet,RayJob,PyTorchJob}', 'ownKinds={crews.example.com}', ...here);
  for (const [kind, plural] of [
    ['ValidatingAdmissionPolicy', 'validatingadmissionpolicies'],
    ['ValidatingAdmissionPolicyBinding', 'validatingadmissionpolicybindings'],
  ] as const)
    for (const object of ofKind(rendered, kind))
      await client.create({ group: 'admissionregistration.k8s.io', version: 'v1', plural, kind, namespaced: false }, object as never);
}

const key = (name: string) => ({ namespace: NAMESPACE, name });
const merge = (body: object): Patch => ({ type: 'merge', body });
const QUEUED = { labels: { [QUEUE_NAME_LABEL]: 'main' } };
const HELD = { ...QUEUED, annotations: { [HOLD_ANNOTATION]: 'true' } };
const FORGED = '{"cluster":"east"}';
const pods = { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox', resources: { requests: { cpu: '100m' } } }] };
const replicatedJobs = [{ name: 'one', template: { spec: { template: manifest('any', { seconds: 20 }).spec.template } } }];

/** What a user without a webhook writes to have an object managed, of each kind. */
type Kind = {
  readonly resource: Resource<WorkObject>;
  readonly spec: object;
  /** The fields of a change: whether it is suspended, and who runs it. */
  readonly suspend: (value: boolean) => object;
  readonly managedBy: (value: string) => object;
  readonly field: string;
};
const RAY_SPEC = {
  entrypoint: 'python a.py',
  submitterPodTemplate: { spec: pods },
  rayClusterSpec: { headGroupSpec: { template: { spec: pods } } },
};
const PYTORCH_SPEC = { pytorchReplicaSpecs: { Worker: { replicas: 1, template: { spec: pods } } } };
const KINDS: readonly (readonly [string, Kind])[] = [
  [
    'JobSet',
    {
      resource: JOB_SETS as unknown as Resource<WorkObject>,
      spec: { suspend: true, managedBy: 'switchyard.dev/manager', replicatedJobs },
      suspend: (suspend) => ({ spec: { suspend } }),
      managedBy: (managedBy) => ({ spec: { managedBy } }),
      field: 'spec',
    },
  ],
  [
    'RayJob',
    {
      resource: RAY_JOBS,
      spec: { ...RAY_SPEC, suspend: true, managedBy: 'kueue.x-k8s.io/multikueue' },
      suspend: (suspend) => ({ spec: { suspend } }),
      managedBy: (managedBy) => ({ spec: { managedBy } }),
      field: 'spec',
    },
  ],
  [
    'PyTorchJob',
    {
      resource: PYTORCH_JOBS,
      spec: { ...PYTORCH_SPEC, runPolicy: { suspend: true, managedBy: 'kueue.x-k8s.io/multikueue' } },
      suspend: (suspend) => ({ spec: { runPolicy: { suspend } } }),
      managedBy: (managedBy) => ({ spec: { runPolicy: { managedBy } } }),
      field: 'spec.runPolicy',
    },
  ],
];

const RECORD = /annotations\[switchyard\.dev\/admission\]: is written by Switchyard only; leave it as it is, and out of a new object/;
const annotated = (name: string, value: string | null): Patch => merge({ metadata: { annotations: { [name]: value } } });
const stored = async (of: Resource<WorkObject>, name: string): Promise<unknown> =>
  (await tenant.get(of, key(name))).metadata.resourceVersion;

/** Writes that are refused of an object in any state, each with what is said. */
const ATTACKS: readonly (readonly [string, Patch, RegExp])[] = [
  ['forges a record', annotated(ADMISSION_ANNOTATION, FORGED), RECORD],
  [
    'says that it is elsewhere',
    merge({ metadata: { labels: { [CLUSTER_LABEL]: 'west' } } }),
    /labels\[switchyard\.dev\/cluster\]: is written/,
  ],
  ['makes it a copy', merge({ metadata: { labels: { [ORIGIN_LABEL]: 'home' } } }), /labels\[switchyard\.dev\/origin\]: is written/],
  ['claims a submission', annotated(SUBMISSION_ANNOTATION, '7'), /annotations\[switchyard\.dev\/submission\]: is written/],
  ['tells conditions by an annotation', annotated(STATUS_ANNOTATION, '[]'), /annotations\[switchyard\.dev\/conditions\]: is written/],
  ['takes it out of its queue', merge({ metadata: { labels: { [QUEUE_NAME_LABEL]: null } } }), /queue-name\]: cannot be (removed|changed)/],
];

describe.each(KINDS)('a tenant of a %s that waits', (name, { resource: of, spec, suspend, managedBy, field }) => {
  const object = (metadata: object, given: object = spec): Unsaved<WorkObject> =>
    ({
      apiVersion: `${of.group}/${of.version}`,
      kind: of.kind,
      metadata: { ...key(`${of.kind.toLowerCase()}-waits`), ...metadata },
      spec: given,
    }) as never;
  const waiting = key(`${of.kind.toLowerCase()}-waits`);
  const refused = (attempt: Promise<unknown>, refusal: RegExp): Promise<void> => expect(attempt).rejects.toThrow(refusal);

  beforeAll(async () => {
    await tenant.create(of, object(HELD));
    await world.clock.advance(5_000);
  });

  test.each(ATTACKS)('%s, and is refused with the remedy', async (_what, patch, refusal) => {
    const before = await stored(of, waiting.name);
    await refused(tenant.patch(of, waiting, patch), refusal);
    expect(await stored(of, waiting.name)).toBe(before);
  });

  test('neither releases it nor gives it to its operator', async () => {
    await refused(
      tenant.patch(of, waiting, merge(suspend(false))),
      new RegExp(`${field}\\.suspend: is set to false by the manager.*leave it true`),
    );
    await refused(
      tenant.patch(of, waiting, merge(managedBy('example.com/operator'))),
      name === 'JobSet' ? /managedBy/ : new RegExp(`${field}\\.managedBy: says who runs the ${name}.*delete the ${name}`),
    );
    await refused(
      tenant.patch(of, waiting, merge({ metadata: { labels: null }, ...suspend(false) })),
      /suspend: is set to false|cannot be removed/,
    );
  });

  test('does not tell its status, also under the names of others', async () => {
    const told = merge({ status: { phase: 'Done', jobDeploymentStatus: 'Complete' } });
    for (const fieldManager of [undefined, MANAGER_FIELD_MANAGER])
      await refused(
        tenant.patchStatus(of, waiting, told, { ...(fieldManager && { fieldManager }) }),
        /status: is written by Switchyard only/,
      );
    await refused(tenant.patchStatus(of, waiting, annotated(ADMISSION_ANNOTATION, FORGED)), /admission\]: is written|status: is written/);
  });

  test('makes no new one that is admitted, released, or of nobody’s queue', async () => {
    const queued = { name: 'new', ...QUEUED };
    await refused(tenant.create(of, object({ ...queued, annotations: { [ADMISSION_ANNOTATION]: FORGED } })), RECORD);
    await refused(
      tenant.create(of, object({ ...queued, finalizers: [COPIES_FINALIZER] })),
      /finalizers\[switchyard\.dev\/copies\]: is written/,
    );
    const released = suspend(false) as { spec: { runPolicy?: object } };
    const { runPolicy } = spec as { runPolicy?: object };
    const both = { ...spec, ...released.spec, ...(runPolicy && { runPolicy: { ...runPolicy, ...released.spec.runPolicy } }) };
    await refused(tenant.create(of, object(queued, both)), new RegExp(`${field}\\.suspend: must be true in a new ${name}`));
    await refused(tenant.create(of, object({ name: 'new', labels: { [QUEUE_NAME_LABEL]: '' } })), /queue-name\]: is missing/);
  });

  test('changes what is the user’s, and does what he likes with one of nobody’s', async () => {
    await tenant.patch(of, waiting, merge({ metadata: { labels: { mine: 'yes' }, annotations: { [PRIORITY_ANNOTATION]: '0' } } }));
    await tenant.patch(of, waiting, merge({ metadata: { labels: { [QUEUE_NAME_LABEL]: 'other' } } }));
    await tenant.patch(of, waiting, merge({ metadata: { labels: { [QUEUE_NAME_LABEL]: 'main' } } }));
    const free = key('free');
    await tenant.create(
      of,
      object(free, { ...(spec as object), ...(managedBy('example.com/operator') as { spec: object }).spec, suspend: true }),
    );
    await tenant.patch(of, free, merge({ ...suspend(false), metadata: { labels: { mine: 'yes' }, finalizers: ['example.com/keep'] } }));
    await tenant.patchStatus(of, free, merge({ status: { phase: 'Running' } }));
    await tenant.patch(of, free, merge({ metadata: { finalizers: null } }));
    await refused(tenant.patch(of, free, merge({ metadata: QUEUED })), /queue-name\]: cannot be added/);
    await tenant.delete(of, free);
  });
});

test('a JobSet under attack is admitted, runs once where the manager says, and ends at home by what its copy says', async () => {
  const of = JOB_SETS as unknown as Resource<WorkObject>;
  const running = key('running');
  await tenant.create(of, {
    metadata: { ...running, ...QUEUED },
    spec: { suspend: true, managedBy: 'switchyard.dev/manager', replicatedJobs },
  } as Unsaved<WorkObject>);
  await world.clock.advance(5_000);
  const admitted = writtenRecordOf(await tenant.get(of, running));
  expect(admitted.kind === 'Record' && admitted.record.cluster).toBe('east');
  for (const [, patch, refusal] of ATTACKS) await expect(tenant.patch(of, running, patch)).rejects.toThrow(refusal);
  for (const [patch, refusal] of [
    [annotated(ADMISSION_ANNOTATION, null), RECORD],
    [merge({ metadata: { finalizers: null } }), /finalizers\[switchyard\.dev\/copies\]: is written/],
    [merge({ metadata: { labels: { [QUEUE_NAME_LABEL]: 'other' } } }), /queue-name\]: cannot be changed while the JobSet is admitted/],
    [merge({ spec: { replicatedJobs: [{ ...replicatedJobs[0], replicas: 2 }] } }), /spec: cannot let the JobSet have more pods at once/],
  ] as const)
    await expect(tenant.patch(of, running, patch)).rejects.toThrow(refusal);
  for (const fieldManager of ['kubectl', MANAGER_FIELD_MANAGER])
    await expect(tenant.patchStatus(of, running, merge({ status: { terminalState: 'Completed' } }), { fieldManager })).rejects.toThrow(
      /status: is written by Switchyard only/,
    );
  await world.clock.advance(60_000);
  const { metadata, status } = await tenant.get(of, running);
  expect(findCondition(status?.conditions, 'Complete')).toMatchObject({ status: 'True', reason: 'AllJobsCompleted' });
  expect(metadata.finalizers ?? []).toEqual([]);
  expect(await world.podsOn('east')).toEqual([]);
});

test('a user holds a running JobSet by its own field, and the manager puts it to rest', async () => {
  const of = JOB_SETS as unknown as Resource<WorkObject>;
  const held = key('held');
  await tenant.create(of, {
    metadata: { ...held, ...QUEUED },
    spec: { suspend: true, managedBy: 'switchyard.dev/manager', replicatedJobs },
  } as Unsaved<WorkObject>);
  await world.clock.advance(5_000);
  await tenant.patch(of, held, merge({ spec: { suspend: true } }));
  await world.clock.advance(60_000);
  expect(findCondition((await tenant.get(of, held)).status?.conditions, 'QuotaReserved')?.reason).toBe('Held');
  await tenant.delete(of, held);
  await world.clock.advance(30_000);
  await expect(tenant.get(of, held)).rejects.toThrow(/not found/);
});

test('a copy on the manager’s own cluster is changed by the fence of its worker, and told of by its operator, but by no tenant', async () => {
  const of = JOB_SETS as unknown as Resource<WorkObject>;
  const copy = { metadata: { ...key('copy'), labels: { [ORIGIN_LABEL]: 'other' } }, spec: { suspend: false, replicatedJobs } };
  await clientOf(MANAGER.name).create(of, copy as Unsaved<WorkObject>, { fieldManager: MANAGER_FIELD_MANAGER });
  const stopped = merge({ metadata: { annotations: { [FENCED_ANNOTATION]: '2026-01-01T00:00:00Z' } }, spec: { suspend: true } });
  const refusal =
    /spec: of a copy follows the JobSet that it is a copy of|annotations\[switchyard\.dev\/fenced\]: is written by Switchyard only/;
  await expect(tenant.patch(of, key('copy'), stopped)).rejects.toThrow(refusal);
  await expect(tenant.patch(of, key('copy'), merge({ spec: { suspend: true } }))).rejects.toThrow(/spec: of a copy follows/);
  await clientOf('worker-here').patch(of, key('copy'), stopped);
  await expect(clientOf('worker-here').patch(of, key('copy'), annotated(ADMISSION_ANNOTATION, FORGED))).rejects.toThrow(RECORD);
  await clientOf('operator').patchStatus(of, key('copy'), merge({ status: { terminalState: 'Failed' } }));
  await tenant.delete(of, key('copy'));
});

describe('of a kind that only a WorkKind of the user describes', () => {
  const sail = (name: string, metadata: object = {}): Unsaved<WorkObject> =>
    ({
      apiVersion: 'example.com/v1',
      kind: 'Crew',
      metadata: { ...key(name), ...QUEUED, ...metadata },
      spec: {
        captain: { spec: pods },
        groups: [{ name: 'deck', hands: 1, pod: { spec: pods } }],
        policy: { suspend: true, managedBy: 'example.com/elsewhere' },
      },
    }) as never;

  test('the marks are held, and the status from admission on', async () => {
    await tenant.create(CREWS, sail('argo'));
    await world.clock.advance(5_000);
    expect(writtenRecordOf(await tenant.get(CREWS, key('argo'))).kind).toBe('Record');
    for (const [, patch, refusal] of ATTACKS.slice(0, -1)) await expect(tenant.patch(CREWS, key('argo'), patch)).rejects.toThrow(refusal);
    await expect(tenant.patch(CREWS, key('argo'), merge({ metadata: { finalizers: null } }))).rejects.toThrow(/copies\]: is written/);
    const told = merge({ status: { phase: 'Moored' } });
    await expect(tenant.patchStatus(CREWS, key('argo'), told)).rejects.toThrow(/status: is written by Switchyard only/);
    await tenant.patchStatus(CREWS, key('argo'), told, { fieldManager: CHECK_FIELD_MANAGER });
    await tenant.patch(CREWS, key('argo'), merge({ metadata: { annotations: { note: 'a' } } }));
  });

  test('an administrator passes by the rules by saying so, and is warned', async () => {
    const { headers, status } = await world
      .plane(HOME)
      .transport({ name: 'root', groups: ['system:masters'] })
      .send({
        method: 'PATCH',
        path: `/apis/example.com/v1/namespaces/${NAMESPACE}/crews/argo?fieldManager=${OVERRIDE_FIELD_MANAGER}`,
        headers: { 'content-type': 'application/merge-patch+json', accept: 'application/json' },
        body: JSON.stringify({ metadata: { annotations: { [SUBMISSION_ANNOTATION]: '7' } } }),
      });
    expect([status, String(headers['warning'])]).toEqual([200, expect.stringContaining('passes by the rules of Switchyard')]);
  });
});
