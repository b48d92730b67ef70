/**
 * Goal: the policy about the manager's account lets through what the manager does on its own cluster, and nothing that makes a pod there.
 */
import { describe, expect, test } from 'vitest';
import type { WorkKindSpec } from '../../../../manager/api/work-kind.ts';
import { admissionPolicies, type PolicyKind } from '../../../../manager/policy/admission-policies.ts';
import { OWN_ACCOUNT_RULES, OWN_ACCOUNT_RULES_OF_ANY_KIND, ownAccountRulesOf } from '../../../../manager/policy/own-account.ts';
import type { Identities } from '../../../../manager/policy/writer.ts';
import { parsePath, withoutField, withValueAt } from '../../../../shared/api/field-path.ts';
import type { Job, WorkObject } from '../../../../shared/api/kubernetes.ts';
import {
  COPIES_FINALIZER,
  MANAGER_CONTROLLER_NAME,
  MANAGER_FIELD_MANAGER,
  ORIGIN_LABEL,
  QUEUE_NAME_LABEL,
  WORKER_CONTROLLER_NAME,
} from '../../../../shared/api/names.ts';
import { aHomeJob } from '../../../support/jobs.ts';
import { violations, type PolicyRequest } from '../../../support/policy-evaluation.ts';
import { CREW_SPEC, SHIPPED } from '../work-kind/described/described.ts';

const [MANAGER, OTHER, WORKER] = ['manager', 'hub', 'worker'] as const;
const waiting = aHomeJob({ spec: { suspend: true } });
const copy = aHomeJob({ metadata: { labels: { [ORIGIN_LABEL]: 'home' } }, spec: { managedBy: WORKER_CONTROLLER_NAME, suspend: false } });
const foreign = aHomeJob({ metadata: { labels: {}, annotations: {} }, spec: { managedBy: 'example.com/other', suspend: false } });

type Installation = {
  readonly managers?: readonly string[];
  readonly localWorkers?: readonly string[];
  readonly username?: string;
  readonly subresource?: string;
  /** What the installation knows of a described kind that the write is of; absent: a Job. */
  readonly kind?: PolicyKind;
};

const known = new Map<string, readonly object[]>();

/** The policies about the account, each compiled once. */
function policiesOf(identities: Identities, kind: PolicyKind | undefined): readonly object[] {
  const key = JSON.stringify([identities, kind]);
  const policies =
    known.get(key) ??
    admissionPolicies('switchyard', identities, kind === undefined ? [] : [kind])
      .filter((each) => each.kind === 'ValidatingAdmissionPolicy' && each.metadata.name.startsWith('switchyard-manager'))
      .map(({ spec }) => spec);
  known.set(key, policies);
  return policies;
}

/** What the policies about the account say of a write. */
function refusalsOf(
  oldObject: WorkObject | undefined,
  object: WorkObject,
  { managers = [MANAGER, OTHER], localWorkers = [], username = MANAGER, subresource = '', kind }: Installation = {},
): string[] {
  const policies = policiesOf({ managers, localWorkers }, kind);
  const resource = kind && { group: kind.group, version: 'v1', plural: kind.resource, kind: kind.kind ?? '', namespaced: true };
  const request: PolicyRequest = {
    subresource,
    oldObject,
    object,
    username,
    fieldManager: MANAGER_FIELD_MANAGER,
    ...(resource && { resource }),
  };
  return policies.flatMap((policy) => violations(policy, request));
}
/** Fields that they refuse, each once. */
const refusedOf = (...args: Parameters<typeof refusalsOf>): string[] => [
  ...new Set(refusalsOf(...args).map((message) => message.slice(0, message.indexOf(': ')))),
];
const inNamespace = <O extends WorkObject>(namespace: string, job: O): O => ({ ...job, metadata: { ...job.metadata, namespace } });

describe('the manager on its own cluster', () => {
  test('creates Jobs that wait for admission, outside of the namespaces of Kubernetes', () => {
    expect(refusedOf(undefined, waiting)).toEqual([]);
    expect(refusedOf(undefined, aHomeJob({ spec: { suspend: false } }))).toEqual(['spec.managedBy']);
    expect(refusedOf(undefined, foreign)).toEqual(['spec.managedBy']);
    expect(refusedOf(undefined, inNamespace('kube-system', waiting))).toEqual(['metadata.namespace']);
  });

  test('creates copies where the cluster is a worker cluster, too, and nowhere else; so does the manager of another cluster', () => {
    expect(refusedOf(undefined, copy)).toEqual(['spec.managedBy']);
    expect(refusedOf(undefined, copy, { localWorkers: [WORKER] })).toEqual([]);
    expect(refusedOf(undefined, foreign, { localWorkers: [WORKER] })).toEqual(['spec.managedBy']);
    expect(refusedOf(undefined, copy, { username: OTHER })).toEqual([]);
    expect(refusedOf(undefined, inNamespace('kube-public', copy), { localWorkers: [WORKER] })).toEqual(['metadata.namespace']);
  });

  test('creates no Job in its own namespace that runs as another account than default', () => {
    const account = 'system:serviceaccount:switchyard:manager';
    const installation = { managers: [account], localWorkers: [WORKER], username: account };
    const runningAs = (serviceAccountName: string): Job => {
      const { template } = copy.spec;
      return { ...copy, spec: { ...copy.spec, template: { ...template, spec: { ...template.spec, serviceAccountName } } } } as Job;
    };
    const field = ['spec.template.spec.serviceAccountName'];
    expect(refusedOf(undefined, inNamespace('switchyard', runningAs('certificates')), installation)).toEqual(field);
    for (const job of [copy, runningAs('default')]) expect(refusedOf(undefined, inNamespace('switchyard', job), installation)).toEqual([]);
    for (const namespace of ['team', 'switchyard-jobs'])
      expect(refusedOf(undefined, inNamespace(namespace, runningAs('builder')), installation)).toEqual([]);
  });

  test('admits, and changes copies, but never another’s Job, whatever label the write gives to it', () => {
    expect(refusedOf(waiting, aHomeJob({ spec: { suspend: false } }))).toEqual([]);
    expect(refusedOf(copy, { ...copy, spec: { ...copy.spec, template: {} } })).toEqual([]);
    expect(refusedOf(waiting, { ...waiting, spec: { ...waiting.spec, template: {} } })).toEqual(['spec.template']);
    expect(refusedOf(foreign, foreign)).toEqual(['spec.managedBy']);
    expect(refusedOf(foreign, { ...foreign, metadata: { ...foreign.metadata, labels: { [ORIGIN_LABEL]: 'home' } } })).toEqual([
      'spec.managedBy',
    ]);
    expect(refusedOf(foreign, foreign, { subresource: 'status' })).toEqual(['spec.managedBy']);
    expect(refusedOf(waiting, waiting, { subresource: 'status' })).toEqual([]);
  });

  test('is the only one whom these rules are about', () => {
    for (const username of ['alice', WORKER]) expect(refusedOf(undefined, foreign, { username })).toEqual([]);
    expect(OWN_ACCOUNT_RULES.map(({ brokenWhen }) => brokenWhen).filter((each) => each.includes('fieldManager'))).toEqual([]);
  });
});

const { managedBy: _managedBy, ...CREW_OF_NOBODY } = CREW_SPEC;
const QUEUE_FIELD = `metadata.labels[${QUEUE_NAME_LABEL}]`;

describe.each<readonly [string, WorkKindSpec]>([
  ...['JobSet', 'RayJob', 'PyTorchJob', 'AppWrapper'].map((name) => [name, SHIPPED.get(name)?.spec ?? CREW_SPEC] as const),
  ['Crew', CREW_SPEC],
  ['Crew that names no manager', CREW_OF_NOBODY],
])('the manager and a %s on its own cluster', (_name, spec) => {
  const { suspend, managedBy } = spec;
  const [suspendPath, controllerPath] = [parsePath(suspend) ?? [], parsePath(managedBy?.path ?? '') ?? []];
  const controller = managedBy?.path ?? QUEUE_FIELD;
  const of = (metadata: object, suspended: boolean, managed = managedBy?.home): WorkObject => {
    const object = { metadata: { name: 'a', namespace: 'team', ...metadata }, spec: { pods: { image: 'a', ports: [1, 2] } } };
    const named = managedBy === undefined ? object : withValueAt(object, controllerPath, managed);
    return withValueAt(named, suspendPath, suspended) as unknown as WorkObject;
  };
  const QUEUED = { labels: { [QUEUE_NAME_LABEL]: 'main' } };
  const waits = of(QUEUED, true);
  const mirrored = of({ labels: { [ORIGIN_LABEL]: 'home' } }, false, managedBy?.operator?.[0]);
  const others = of({}, true, 'example.com/other');
  const here = { kind: spec };
  const changed = (path: string, value: unknown): WorkObject => withValueAt(waits, parsePath(path) ?? [], value);

  test('creates what waits in a queue, and copies where a worker runs them', () => {
    expect(refusedOf(undefined, waits, here)).toEqual([]);
    expect(refusedOf(undefined, of(QUEUED, false), here)).toEqual([controller]);
    expect(refusedOf(undefined, withoutField(waits, suspendPath), here)).toEqual([controller]);
    if (managedBy !== undefined) expect(refusedOf(undefined, of(QUEUED, true, 'example.com/other'), here)).toEqual([controller]);
    expect(refusedOf(undefined, others, here)).toContain(QUEUE_FIELD);
    expect(refusedOf(undefined, mirrored, here)).toContain(controller);
    expect(refusedOf(undefined, mirrored, { ...here, localWorkers: [WORKER] })).toEqual([]);
    expect(refusedOf(undefined, mirrored, { ...here, username: OTHER })).toEqual([]);
    for (const object of [waits, mirrored])
      expect(refusedOf(undefined, inNamespace('kube-system', object), { ...here, localWorkers: [WORKER] })).toEqual(['metadata.namespace']);
  });

  test('creates no copies in its own namespace, where any account could be theirs', () => {
    const account = 'system:serviceaccount:switchyard:manager';
    const installation = { ...here, managers: [account], localWorkers: [WORKER], username: account };
    expect(refusedOf(undefined, inNamespace('switchyard', mirrored), installation)).toEqual(['metadata.namespace']);
    for (const object of [inNamespace('switchyard', waits), mirrored]) expect(refusedOf(undefined, object, installation)).toEqual([]);
  });

  test('admits and holds it, and changes no other field of its spec', () => {
    expect(refusedOf(waits, of(QUEUED, false), here)).toEqual([]);
    expect(refusedOf(of(QUEUED, false), waits, here)).toEqual([]);
    expect(refusedOf(waits, withoutField(waits, suspendPath), here)).toEqual([]);
    expect(refusedOf(waits, of({ ...QUEUED, finalizers: [COPIES_FINALIZER] }, false), here)).toEqual([]);
    expect(refusedOf(waits, waits, { ...here, subresource: 'status' })).toEqual([]);
    const above = suspend.split('.').slice(0, -1).join('.');
    for (const object of [
      changed('spec.pods.image', 'b'),
      withValueAt(waits, ['spec', 'pods', 'ports'], [1, 2, 3]),
      changed('spec.more', 1),
      changed(`${above}.more`, 1),
      withoutField(waits, ['spec', 'pods']),
      ...(managedBy === undefined ? [] : [of(QUEUED, true, managedBy.operator?.[0]), withoutField(waits, controllerPath)]),
      ...(above === 'spec' ? [] : [withoutField(waits, parsePath(above) ?? []), changed(above, null)]),
    ])
      expect(refusedOf(waits, object, here)).toEqual(['spec']);
  });

  test('has no way around that by marking it as a copy, and taking its queue away', () => {
    if (managedBy === undefined) return;
    const marked = of({ labels: { [ORIGIN_LABEL]: 'home' } }, true);
    expect(refusedOf(waits, marked, here)).toEqual([]);
    expect(refusedOf(marked, of({ labels: { [ORIGIN_LABEL]: 'home' } }, false, managedBy.operator?.[0]), here)).toEqual(['spec']);
    expect(refusedOf(marked, withoutField(marked, ['spec', 'pods']), here)).toEqual(['spec']);
  });

  test('changes copies, but never what is another’s, whatever mark the write gives to it', () => {
    expect(refusedOf(mirrored, withoutField(mirrored, ['spec', 'pods']), here)).toEqual([]);
    for (const [object, more] of [
      [others, {}],
      [others, { subresource: 'status' }],
      [{ ...others, metadata: { ...others.metadata, labels: { [ORIGIN_LABEL]: 'home' } } }, {}],
      [waits, {}],
    ] as const)
      expect(refusedOf(others, object, { ...here, ...more })).toContain(controller);
    if (managedBy === undefined || managedBy.home === MANAGER_CONTROLLER_NAME) return;
    // MultiKueue of Kueue, whose name it also is, may have made it its own.
    const kueues = of({}, true);
    expect(refusedOf(kueues, kueues, here)).toContain(controller);
    const dispatched = of({ finalizers: [COPIES_FINALIZER] }, true);
    expect(refusedOf(dispatched, dispatched, here)).toEqual([]);
  });

  test('is told with the name of the kind', () => {
    expect(refusalsOf(undefined, of(QUEUED, false), here).join()).toContain(`a new ${spec.kind} that the manager creates`);
    expect(refusalsOf(others, others, here).join()).toContain(`the ${spec.kind} is no copy`);
  });

  test('is the only one whom these rules are about, and by no field manager', () => {
    for (const username of ['alice', WORKER]) expect(refusedOf(undefined, others, { ...here, username })).toEqual([]);
    const rules = [...OWN_ACCOUNT_RULES_OF_ANY_KIND, ...ownAccountRulesOf(spec)];
    expect(rules.map(({ brokenWhen }) => brokenWhen).filter((each) => each.includes('fieldManager'))).toEqual([]);
  });
});

test('of a kind of which nobody has told where its fields are, the marks say what the manager may write', () => {
  const here = { kind: { group: 'example.com', resource: 'crews' } };
  const crew = (metadata: object, spec: object = {}): WorkObject =>
    ({ metadata: { name: 'a', namespace: 'team', ...metadata }, spec }) as never;
  const queued = crew({ labels: { [QUEUE_NAME_LABEL]: 'main' } });
  for (const object of [queued, crew({ finalizers: [COPIES_FINALIZER] }), crew({}, { managedBy: MANAGER_CONTROLLER_NAME })])
    expect(refusedOf(object, queued, here)).toEqual([]);
  expect(refusedOf(undefined, queued, here)).toEqual([]);
  expect(refusedOf(undefined, crew({}), here)).toEqual([QUEUE_FIELD]);
  expect(refusalsOf(crew({}), queued, here)).toEqual([
    `${QUEUE_FIELD}: is missing, and the object is no copy: the manager neither changes nor deletes it`,
  ]);
});
