import { describe, expect, test } from 'vitest';
import { DEFAULT_JOB_RULES } from '../../../../../manager/api/job-rules.ts';
import { copyIdentity } from '../../../../../manager/work-kind/copy-marks.ts';
import type { CopyOptions } from '../../../../../manager/work-kind/copy-options.ts';
import { type AdmissionRecord, formatAdmissionRecord } from '../../../../../manager/api/records.ts';
import { ADMISSION_ANNOTATION, STATUS_ANNOTATION } from '../../../../../shared/api/names.ts';
import { aRecord } from '../../../../support/jobs.ts';
import { PODS_AT_ONCE_MAX } from '../../../../../manager/work-kind/pod-set-problems.ts';
import { describedKind } from '../../../../../manager/work-kind/described/described-kind.ts';
import type { JobCondition, WorkObject, WorkStatus } from '../../../../../shared/api/kubernetes.ts';
import { aCrew, aCrewKind, aCrewPod, compiled, CREW_SPEC } from './described.ts';

const kind = aCrewKind();
const T0 = Date.parse('2026-01-01T01:00:00Z');
const OPTIONS: CopyOptions = { origin: 'manager-1', epoch: 3, jobController: 'switchyard.dev/worker', local: false, flavors: [] };

const said = (type: string, status: JobCondition['status'], more: object = {}): JobCondition => ({
  type,
  status,
  reason: 'Said',
  message: `${type} it is`,
  lastTransitionTime: '2026-01-01T00:30:00Z',
  ...more,
});
const status = (phase: string, conditions: readonly JobCondition[] = [], more: object = {}): WorkStatus => ({
  phase,
  conditions: [...conditions],
  ...more,
});
const RUNNING = status('Sailing', [], { aboard: true });
/** A copy as its worker cluster returns it. */
const aCopy = (of: { readonly spec?: object; readonly status?: WorkStatus; readonly metadata?: object } = {}): WorkObject => {
  const { metadata, spec, ...rest } = kind.copies.of(kind.prepared(aCrew()), OPTIONS);
  return {
    ...rest,
    metadata: {
      ...metadata,
      uid: 'copy-uid',
      resourceVersion: '9',
      generation: 1,
      creationTimestamp: '2026-01-01T00:10:00Z',
      ...of.metadata,
    },
    spec: { ...spec, ...of.spec },
    ...(of.status === undefined ? {} : { status: of.status }),
  } as WorkObject;
};
const cached = (of: Parameters<typeof aCopy>[0] = {}): WorkObject => kind.copies.essentials(aCopy(of), false);
const STAMP = { written: '2026-01-01T00:00:00.500Z', seal: 'abc' };
const CREW_READY_BY_HANDS = { hands: 'status.?aboardNow.orValue(0) >= spec.groups.map(g, g.hands).sum()' };
/** What a record says of an admission with so many oars. */
const partOf = (crew: WorkObject, oars: number): Pick<AdmissionRecord, 'parallelism' | 'podSets'> => ({
  parallelism: 3 + oars,
  podSets: kind.podSets(crew).map(({ name }) => ({ name, flavors: {}, requests: {}, ...(name === 'oars' ? { count: oars } : {}) })),
});
const SUSPENDED = { policy: { suspend: true } };

describe('at home', () => {
  test('an object is prepared where its description says, with the parents that are missing', () => {
    expect(kind.isSuspended(aCrew())).toBe(false);
    expect(kind.prepared(aCrew()).spec).toMatchObject({ policy: { suspend: true, managedBy: 'example.com/elsewhere' }, course: 'north' });
    expect(kind.preparation(aCrew()).slice(0, 2)).toEqual([
      { op: 'add', path: '/spec/policy', value: {} },
      { op: 'add', path: '/spec/policy/suspend', value: true },
    ]);
    expect(kind.preparation(kind.prepared(aCrew()))).toEqual([]);
    expect(kind.suspension(false)).toEqual({ policy: { suspend: false } });
  });

  test("an object is the manager's by a value that others use too only with a queue, or with what was dispatched", () => {
    const prepared = kind.prepared(aCrew());
    const unmarked = { ...prepared, metadata: { ...prepared.metadata, labels: {} } };
    expect(kind.controllerOf(prepared)).toBe('switchyard.dev/manager');
    expect(kind.controllerOf(unmarked)).toBe('example.com/elsewhere');
    expect(kind.controllerOf({ ...unmarked, metadata: { ...unmarked.metadata, finalizers: ['switchyard.dev/copies'] } })).toBe(
      'switchyard.dev/manager',
    );
  });

  test('the names of its own operator mean the same as no name', () => {
    const by = (managedBy: string) => aCrew({ spec: { policy: { managedBy } } });
    expect(kind.controllerOf(aCrew())).toBeUndefined();
    expect(kind.controllerOf(by('example.com/crew-operator'))).toBeUndefined();
    expect(kind.controllerOf(by('example.com/others'))).toBe('example.com/others');
  });

  test("a kind without managedBy is the manager's by its queue", () => {
    const { managedBy: _none, ...spec } = CREW_SPEC;
    const free = describedKind(compiled(spec));
    expect(free.controllerOf(aCrew())).toBe('switchyard.dev/manager');
    expect(free.controllerOf(aCrew({ metadata: { labels: {} } }))).toBeUndefined();
    expect(free.prepared(aCrew()).spec).toMatchObject({ policy: { suspend: true } });
  });

  test('pods, those that are left, seconds and the labels of its pods are read by expressions', () => {
    const crew = aCrew({ status: { ...RUNNING, done: { deck: 1 } } });
    expect(kind.podSets(crew).map(({ name, count, minCount }) => [name, count, minCount])).toEqual([
      ['captain', 1, undefined],
      ['deck', 2, 2],
      ['oars', 3, 1],
    ]);
    expect(kind.podSets(crew).map(({ finished }) => finished)).toEqual([0, 1, 0]);
    expect([kind.podsAtOnce(crew), kind.podsNeeded(crew, undefined), kind.readyPodsNeeded(crew, undefined)]).toEqual([6, 6, 5]);
    expect([kind.ttlSeconds(crew), kind.deadlineSeconds(crew), kind.graceSeconds(crew)]).toEqual([600, undefined, 30]);
    expect(kind.podSelector(crew)).toBe('example.com/crew=argo');
    expect(kind.podFenceProblem(crew)?.problem).toContain('leave the pod fence out');
  });

  test('a part is admitted by the pod set that its record names, whose count the copy has, and no other field is changed', () => {
    const record = partOf(aCrew(), 1);
    const part = kind.admittedPart(aCrew(), record);
    expect(kind.podSets(part).map(({ count }) => count)).toEqual([1, 2, 1]);
    const [deck, oars] = aCrew().spec['groups' as keyof object] as object[];
    expect(kind.copies.of(part, OPTIONS).spec).toMatchObject({ groups: [{ hands: 2 }, { hands: 1, least: 1 }] });
    expect(part).toEqual(aCrew({ spec: { groups: [deck, { ...oars, hands: 1 }] } }));
  });

  test('a part is no part any more where the object asks for as few, or its record admits all', () => {
    const [deck, oars] = aCrew().spec['groups' as keyof object] as object[];
    const smaller = aCrew({ spec: { groups: [deck, { ...oars, hands: 1 }] } });
    expect(kind.admittedPart(smaller, partOf(smaller, 2))).toBe(smaller);
    expect(kind.admittedPart(smaller, {})).toBe(smaller);
    // Its pod sets are others than those that were admitted.
    expect(kind.podsAtOnce(kind.admittedPart(aCrew(), { parallelism: 4 }))).toBe(6);
  });

  test('a copy has other pods by number or node, and what a webhook adds to one that was sent without it is no reason', () => {
    const flavor = (pool: string | undefined): CopyOptions['flavors'] =>
      pool === undefined ? [] : [{ metadata: { ...aCrew().metadata, name: pool }, spec: { nodeLabels: { pool } } }];
    const wanted = (pool: string | undefined, crew = aCrew()) => kind.copies.of(crew, { ...OPTIONS, flavors: flavor(pool) });
    // The pods that it has, and those that it was sent with.
    const made = (pool: string | undefined, annotations = wanted(pool).metadata.annotations ?? {}): WorkObject =>
      kind.copies.essentials({ ...aCopy(), spec: wanted(pool).spec, metadata: { ...aCopy().metadata, annotations } }, false);
    expect(kind.copies.hasOtherPods(made('ssd'), wanted('ssd'))).toBe(false);
    expect(kind.copies.hasOtherPods(made('ssd'), wanted('hdd'))).toBe(true);
    expect(kind.copies.hasOtherPods(made('ssd'), wanted(undefined))).toBe(true);
    expect(kind.copies.hasOtherPods(made('ssd', wanted(undefined).metadata.annotations), wanted(undefined))).toBe(false);
    expect(kind.copies.hasOtherPods(made('ssd', {}), wanted(undefined))).toBe(true);
    const fewer = kind.admittedPart(aCrew(), partOf(aCrew(), 1)) as WorkObject;
    expect(kind.copies.hasOtherPods(made('ssd'), wanted('ssd', fewer))).toBe(true);
  });

  test('how far an object is counts for as many pods as were admitted, and its own number stays', () => {
    const { hands } = CREW_READY_BY_HANDS;
    const crews = describedKind(compiled({ ...CREW_SPEC, state: { ...CREW_SPEC.state, ready: hands } }));
    const crew = aCrew({ status: status('Sailing', [], { aboardNow: 3 }) });
    const noted = (object: WorkObject, parts: object): WorkObject => ({
      ...object,
      metadata: { ...object.metadata, annotations: { [ADMISSION_ANNOTATION]: formatAdmissionRecord(aRecord(parts), STAMP) } },
    });
    expect([crews.progress(crew).ready, crews.progress(crew).active]).toEqual([0, 6]);
    const admitted = noted(crew, partOf(crew, 1));
    expect([crews.progress(admitted).ready, crews.progress(admitted).active, crews.podsAtOnce(admitted)]).toEqual([4, 4, 6]);
    expect(crews.progress(noted(crew, {})).active).toBe(6);
  });

  test('rules of an administrator hold for every pod set', () => {
    expect(kind.ruleProblems(aCrew(), DEFAULT_JOB_RULES)).toEqual([]);
    const groups = [{ name: 'deck', hands: 200_000, pod: { spec: { containers: [], resourceClaims: [{ name: 'gpu' }] } } }];
    const crew = aCrew({ spec: { groups }, metadata: { namespace: 'kube-system' } });
    expect(kind.ruleProblems(crew, DEFAULT_JOB_RULES).map(({ field }) => field)).toEqual([
      'metadata.namespace',
      'spec',
      'spec.groups[0].pod.resourceClaims',
    ]);
  });

  test('its pod sets together may have as many pods at once as are taken, and no more', () => {
    const problemsOf = (hands: number) =>
      kind.ruleProblems(aCrew({ spec: { groups: [{ name: 'deck', hands, pod: aCrewPod('1') }] } }), DEFAULT_JOB_RULES);
    expect(problemsOf(PODS_AT_ONCE_MAX - 1)).toEqual([]);
    expect(problemsOf(PODS_AT_ONCE_MAX).map(({ problem }) => problem)).toEqual([expect.stringMatching(/^asks for 100001 pods at once/)]);
  });
});

describe('in the cache', () => {
  const full = () => ({ ...kind.prepared(aCrew({ spec: { script: 'x'.repeat(5000) } })), status: structuredClone(RUNNING) });

  test('an object has what expressions see, and nothing of what its containers do', () => {
    const compact = kind.cache.compact(full());
    expect(JSON.stringify(compact)).not.toMatch(/registry|sail|xxxx|FLAG/);
    expect(kind.podSets(compact).map(({ count }) => count)).toEqual([1, 2, 3]);
    expect(() => kind.copies.of(compact, OPTIONS)).toThrow('no copy can be made of Crew team/argo: parts of it are not cached');
  });

  test.each(['podSets', 'podsAtOnce', 'graceSeconds', 'ttlSeconds', 'programOf', 'references', 'podSelector', 'isSuspended'] as const)(
    '%s is the same for an object and its compact form, also in another process',
    (question) => {
      const strip = (value: unknown): unknown =>
        question === 'podSets' ? (value as { name: string; count: number }[]).map(({ name, count }) => [name, count]) : value;
      const compact = kind.cache.compact(full());
      expect(strip(kind[question](compact))).toEqual(strip(kind[question](full())));
      expect(strip(aCrewKind()[question](structuredClone(compact)))).toEqual(strip(kind[question](full())));
    },
  );

  test('references of all its pods are kept, each once, and optional only where all are', () => {
    const volume = (name: string, optional: boolean) => ({ name, configMap: { name: 'settings', optional } });
    const pod = (optional: boolean) => ({ spec: { containers: [], volumes: [volume('v', optional)] } });
    const crew = aCrew({ spec: { captain: pod(true), groups: [{ name: 'a', hands: 1, pod: pod(false) }] } });
    const references = [{ kind: 'ConfigMap', name: 'settings', optional: false }];
    expect(kind.references(crew)).toEqual(references);
    expect(kind.references(kind.cache.compact(structuredClone(crew)))).toEqual(references);
  });

  test('what its pods need on a cluster is kept too, each once', () => {
    const spec = { containers: [], serviceAccountName: 'sailor', volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'hold' } }] };
    const crew = aCrew({ spec: { captain: { spec }, groups: [{ name: 'a', hands: 1, pod: { spec } }] } });
    const needs = [
      { kind: 'PersistentVolumeClaim', name: 'hold' },
      { kind: 'ServiceAccount', name: 'sailor' },
    ];
    expect(kind.needs(crew)).toEqual(needs);
    expect(kind.needs(kind.cache.compact(structuredClone(crew)))).toEqual(needs);
  });

  test('a refused object keeps why, and little else', () => {
    const compact = kind.cache.compact(full(), { problem: 'too large' });
    expect(kind.cache.problem(compact)).toBe('too large');
    expect(compact.spec).toEqual({ policy: { suspend: true, managedBy: 'example.com/elsewhere' } });
  });

  test('a kind without conditions has those of Switchyard from its annotation, and gives them back there', () => {
    const plain = describedKind(compiled({ ...CREW_SPEC, status: { conditions: false } }));
    const conditions = [said('QuotaReserved', 'True')];
    const crew = aCrew({
      status: { phase: 'Sailing' } as WorkStatus,
      metadata: { annotations: { [STATUS_ANNOTATION]: JSON.stringify(conditions) } },
    });
    expect(plain.cache.whole(structuredClone(crew)).status).toEqual({ phase: 'Sailing', conditions });
    expect(plain.cache.compact(structuredClone(crew)).status).toEqual({ phase: 'Sailing', conditions });
    expect(plain.home.stored({ phase: 'Sailing', conditions })).toEqual({
      status: { phase: 'Sailing' },
      annotations: { [STATUS_ANNOTATION]: JSON.stringify(conditions) },
    });
    expect(kind.home.stored({ phase: 'Sailing', conditions })).toEqual({ status: { phase: 'Sailing', conditions } });
  });

  test('an annotation that is no list of conditions says nothing', () => {
    const plain = describedKind(compiled({ ...CREW_SPEC, status: { conditions: false } }));
    const read = (text: string) =>
      plain.cache.whole(aCrew({ status: { phase: 'Sailing' } as WorkStatus, metadata: { annotations: { [STATUS_ANNOTATION]: text } } }))
        .status;
    expect(read('{')).toEqual({ phase: 'Sailing' });
    expect(read('[1, {"type": 3}]')).toEqual({ phase: 'Sailing', conditions: [] });
  });
});

describe('a copy', () => {
  test('has the spec of its original, released, without what it must not carry', () => {
    const copy = kind.copies.of(kind.prepared(aCrew()), OPTIONS);
    expect(copy).toMatchObject({ apiVersion: 'example.com/v1', kind: 'Crew', metadata: { name: 'argo', namespace: 'team' } });
    expect(copy.spec).toMatchObject({ course: 'north', policy: { suspend: false } });
    expect(copy.spec).not.toHaveProperty('keepSeconds');
    expect(copy.spec).not.toHaveProperty('policy.managedBy');
    expect(copy.metadata.labels).toEqual({ team: 'a', 'switchyard.dev/origin': 'manager-1' });
  });

  test('has the value by which its operator runs it, where its kind needs one', () => {
    const told = describedKind(compiled({ ...CREW_SPEC, managedBy: { path: 'spec.policy.managedBy', home: 'a/b', copies: 'a/operator' } }));
    const copy = told.copies.of(told.prepared(aCrew()), OPTIONS);
    expect(copy.spec).toMatchObject({ policy: { managedBy: 'a/operator' } });
    const lost = { ...aCopy(), spec: { ...copy.spec, policy: {} } };
    expect([told.copies.hasLostController(lost), kind.copies.hasLostController(aCopy())]).toEqual([true, false]);
    expect(kind.copies.hasOtherController(aCopy({ spec: { policy: { managedBy: 'example.com/elsewhere' } } }), undefined)).toBe(true);
  });

  test('has the token in each of its pods, and the nodes of the flavors of each pod set', () => {
    const flavor = (pool: string) => ({ metadata: { name: pool }, spec: { nodeLabels: { pool } } }) as never;
    const copy = kind.copies.of(aCrew(), { ...OPTIONS, flavors: [flavor('all')], podSetFlavors: new Map([['oars', [flavor('big')]]]) });
    expect(kind.podSets(copy).map(({ template }) => template.spec?.nodeSelector)).toEqual([
      { pool: 'all' },
      { pool: 'all' },
      { pool: 'big' },
    ]);
    for (const { template } of kind.podSets(copy))
      expect(template.spec?.containers[0]?.env?.slice(0, 2)).toEqual([
        { name: 'SWITCHYARD_EPOCH', value: '3' },
        { name: 'SWITCHYARD_JOB', value: 'team/argo' },
      ]);
  });

  test("is the original's by its pod templates, whatever its annotations say", () => {
    const annotations = { 'switchyard.dev/origin-uid': 'another', 'switchyard.dev/dispatch-epoch': '99' };
    expect(copyIdentity(cached({ metadata: { annotations } }))).toMatchObject({ originUid: 'crew-uid', epoch: 3 });
    expect(copyIdentity(cached())).toMatchObject({ originUid: 'crew-uid', epoch: 3 });
    expect(cached().spec).not.toHaveProperty('template');
  });

  test("without pod templates is the original's by its annotations", () => {
    const bare = { captain: null, groups: [] };
    expect(copyIdentity(cached({ spec: bare }))).toMatchObject({ originUid: 'crew-uid', epoch: 3 });
    expect(copyIdentity(cached({ spec: bare, metadata: { annotations: {} } }))).toBeUndefined();
  });

  test('follows its original in the fields that may change, and in nothing else', () => {
    const wanted = (spec: object) => kind.copies.of(kind.prepared(aCrew({ spec })), OPTIONS);
    expect(kind.copies.change(cached(), wanted({}), false)).toBeUndefined();
    expect(kind.copies.change(cached(), wanted({ course: 'south', noted: 1 }), false)).toEqual({ course: 'south' });
    const suspension = kind.copies.change(cached(), wanted({}), true);
    expect(suspension).toEqual({ policy: { suspend: true } });
    const resumption = kind.copies.change(cached({ spec: SUSPENDED }), wanted({ course: undefined }), false);
    expect(resumption).toEqual({ policy: { suspend: false }, course: null });
    expect([suspension, resumption].map((change) => kind.copies.resumes(change ?? {}))).toEqual([false, true]);
  });

  test('shows which fields an API server has dropped, while it is as it was created', () => {
    const sent = kind.copies.of(aCrew(), OPTIONS);
    const { course: _course, ...left } = sent.spec as { course: string };
    expect(kind.copies.droppedFields(sent, { ...aCopy(), spec: { ...left, policy: {} } })).toEqual([]);
    const { groups: _groups, ...less } = sent.spec as { groups: unknown };
    expect(kind.copies.droppedFields(sent, { ...aCopy(), spec: less })).toEqual(['spec.groups']);
    expect(kind.copies.droppedFields(sent, { ...aCopy({ metadata: { generation: 2 } }), spec: less })).toEqual([]);
  });

  test('refers to the objects that were written for it, in all of its pods', () => {
    const pod = { spec: { containers: [], volumes: [{ name: 'v', secret: { secretName: 'key' } }] } };
    const copy = kind.copies.of(aCrew({ spec: { captain: pod, groups: [{ name: 'a', hands: 1, pod }] } }), OPTIONS);
    const renamed = kind.copies.withReferences(copy, ({ name }) => `${name}-1`);
    expect(kind.references(renamed)).toEqual([{ kind: 'Secret', name: 'key-1', optional: false }]);
    expect(kind.isSuspended(kind.copies.suspended(renamed))).toBe(true);
  });

  test('rests when it is suspended and its operator says so, or when it has ended', () => {
    const rests = (of: Parameters<typeof aCopy>[0]) => kind.copies.isAtRest(cached(of));
    expect(rests({ spec: SUSPENDED, status: status('Moored') })).toBe(true);
    expect(rests({ spec: SUSPENDED, status: status('Sailing') })).toBe(false);
    expect(rests({ spec: SUSPENDED })).toBe(false);
    expect(rests({ status: status('Moored') })).toBe(false);
    expect(rests({ status: status('Sailing', [said('Arrived', 'True')]) })).toBe(true);
  });

  test('that was resumed and suspended again does not rest by the condition of the earlier suspension', () => {
    const moored = status('Moored', [said('Moored', 'True')]);
    const before = cached({ spec: SUSPENDED, status: moored });
    const annotations = { ...before.metadata.annotations, ...kind.copies.resumption(before) };
    const again = cached({ spec: SUSPENDED, status: moored, metadata: { annotations } });
    expect([kind.copies.isResumeUnseen(again), kind.copies.isAtRest(again)]).toEqual([true, false]);
    const later = status('Moored', [said('Moored', 'True', { lastTransitionTime: '2026-01-01T00:31:00Z' })]);
    expect(kind.copies.isAtRest(cached({ spec: SUSPENDED, status: later, metadata: { annotations } }))).toBe(true);
  });

  test('waits to start until all pods are ready, and has begun once its operator says so', () => {
    const of = (copy: WorkObject) => [kind.copies.isUnbegun(copy), kind.copies.isWaitingToStart(copy)];
    expect(of(cached())).toEqual([true, true]);
    expect(of(cached({ status: status('Sailing') }))).toEqual([false, true]);
    expect(of(cached({ status: RUNNING }))).toEqual([false, false]);
    expect(of(cached({ spec: SUSPENDED }))).toEqual([true, false]);
  });

  test('counts all of its pods from its start to its end', () => {
    const of = (copy: WorkObject) => {
      const { active, ready, succeeded } = kind.progress(copy);
      return [active, ready, succeeded];
    };
    expect(of(cached({ status: status('Sailing') }))).toEqual([6, 0, 0]);
    expect(of(cached({ status: RUNNING }))).toEqual([6, 6, 0]);
    expect(of(cached({ status: status('Sailing', [], { done: { oars: 3 } }) }))).toEqual([3, 0, 3]);
    expect(of(cached({ spec: SUSPENDED, status: status('Sailing') }))).toEqual([6, 0, 0]);
    expect(of(cached({ spec: SUSPENDED, status: status('Moored') }))).toEqual([0, 0, 0]);
    expect(of(cached({ status: status('Sailing', [said('Arrived', 'True')]) }))).toEqual([0, 0, 6]);
  });

  test('of a hostile cluster is read without an error, and in little memory', () => {
    const hostile = [
      { metadata: { creationTimestamp: 7, deletionTimestamp: {}, labels: 'x', annotations: { 'switchyard.dev/origin-uid': 3, a: null } } },
      { status: 'text' as never, spec: { captain: { spec: { containers: [{ name: 'a', env: 5 }] } }, groups: { a: null, b: 1 } } },
      { status: { conditions: [null, 3, { type: 'Arrived', status: 'yes' }], deep: [[[{}]]] } as never },
      { spec: 'text' as never },
      {
        status: { padding: Array.from({ length: 5000 }, () => 'y'.repeat(100)) } as never,
        spec: { pad: Array.from({ length: 500 }, () => 'z'.repeat(1000)) },
      },
    ];
    for (const each of hostile) {
      const copy = cached(each);
      expect(JSON.stringify(copy).length).toBeLessThan(20_000);
      for (const question of ['isAtRest', 'isUnbegun', 'isWaitingToStart', 'isResumeUnseen', 'hasLostController'] as const)
        expect(typeof kind.copies[question](copy)).toBe('boolean');
      expect(kind.podSets(copy).length).toBeLessThan(4);
    }
  });
});

describe('the status at home', () => {
  const local = (of: { readonly status?: WorkStatus } = {}): WorkObject => {
    const crew = aCrew({ spec: { policy: { suspend: false } }, ...of });
    return kind.cache.whole(crew);
  };
  const home = (copy: WorkObject | undefined, at = local(), own: Parameters<typeof kind.home.of>[0]['own'] = []): WorkStatus =>
    kind.home.of({ local: at, remote: copy && kind.copies.believed(copy, at), own, nowMs: T0 });

  test('is that of the copy as it is, with conditions of Switchyard that have the form of the kind', () => {
    const own = [{ type: 'Dispatched', status: 'True', reason: 'Dispatched', message: 'on a' }] as const;
    expect(
      home(
        cached({
          status: { ...RUNNING, conditions: [said('Rigged', 'True', { observedGeneration: 1, lastProbeTime: '2026-01-01T00:30:00Z' })] },
        }),
        local(),
        own,
      ),
    ).toEqual({
      phase: 'Sailing',
      aboard: true,
      conditions: [
        said('Rigged', 'True', { observedGeneration: 1 }),
        { type: 'Dispatched', status: 'True', reason: 'Dispatched', message: 'on a', lastTransitionTime: '2026-01-01T01:00:00Z' },
      ],
    });
  });

  test('has the fields that its description lets home', () => {
    const few = describedKind(compiled({ ...CREW_SPEC, status: { fields: ['phase'], minor: ['lastSeen'] } }));
    const copy = few.copies.essentials(aCopy({ status: RUNNING }), false);
    expect(few.home.of({ local: local(), remote: copy.status, own: [], nowMs: T0 })).toEqual({ phase: 'Sailing', conditions: [] });
    expect([few.home.isMinor({ lastSeen: 1 }), few.home.isMinor({ lastSeen: 1, phase: 'x' }), few.home.isMinor({})]).toEqual([
      true,
      false,
      false,
    ]);
  });

  test('takes no condition of Switchyard from a worker cluster', () => {
    const copy = cached({ status: { ...RUNNING, conditions: [said('QuotaReserved', 'True'), said('gpu-check', 'True')] } });
    expect(home(copy).conditions).toEqual([]);
  });

  test.each([
    ['Complete', 'Arrived'],
    ['Failed', 'Sunk'],
  ])('ends as %s when its description sees the end, and is final from then on', (type, own) => {
    const end = home(cached({ status: status('Sailing', [said(own, 'True')]) }));
    expect(end.conditions).toEqual([
      said(own, 'True'),
      { type, status: 'True', reason: 'Said', message: `${own} it is`, lastTransitionTime: '2026-01-01T00:30:00Z' },
    ]);
    expect(kind.home.hasVerdict({ status: end })).toBe(true);
    expect(home(cached({ status: RUNNING }), local({ status: end }))).toEqual(end);
    expect(kind.home.carryOutVerdict(local({ status: end }), T0)).toEqual(end);
  });

  test('does not end by a condition of that name of which its description says nothing', () => {
    expect(home(cached({ status: status('Sailing', [said('Complete', 'True')]) })).conditions).toEqual([]);
  });

  test('does not end by what the deletion of a copy does to its pods', () => {
    const leaving = { deletionTimestamp: '2026-01-01T00:40:00Z' };
    const copy = cached({ status: status('Sailing', [said('Sunk', 'True')]), metadata: leaving });
    expect(kind.home.hasVerdict({ status: home(copy) })).toBe(false);
    expect(kind.progress({ status: home(copy) }).active).toBe(6);
  });

  test('shows nothing of the kind while there is no copy, and that nothing runs once it is suspended', () => {
    expect(home(undefined, local({ status: RUNNING }))).toEqual({ conditions: [] });
    const suspended = kind.prepared(local({ status: RUNNING }));
    const rested = home(undefined, suspended);
    expect(rested.conditions).toMatchObject([{ type: 'Suspended', status: 'True', message: 'Crew suspended' }]);
    expect(home(cached({ status: RUNNING }), local({ status: rested })).conditions).toMatchObject([{ type: 'Suspended', status: 'False' }]);
  });

  test('says Suspended of a copy only while that is suspended', () => {
    const conditions = [said('Suspended', 'True')];
    expect(home(cached({ status: { ...RUNNING, conditions } })).conditions).toEqual([]);
    expect(home(cached({ spec: SUSPENDED, status: { ...RUNNING, conditions } })).conditions).toEqual(conditions);
  });

  test("fails for the manager's reason, and an earlier end wins", () => {
    const why = { reason: 'ClusterLost', message: 'its cluster is lost' };
    const failed = kind.home.failed(local(), kind.home.withoutPods(RUNNING, T0), why, [], T0);
    expect(failed.conditions).toMatchObject([{ type: 'Suspended' }, { type: 'Failed', status: 'True', ...why }]);
    const ended = status('Sailing', [said('Complete', 'True')]);
    expect(kind.home.failed(local({ status: ended }), undefined, why, [], T0)).toEqual(ended);
  });

  test('keeps the progress that was read of the copy, though a status alone does not tell it', () => {
    const now = home(cached({ status: RUNNING }));
    expect(kind.progress({ status: now })).toMatchObject({ active: 6, ready: 6, startTime: '2026-01-01T00:10:00Z' });
    expect(kind.progress({ status: structuredClone(now) }).ready).toBe(0);
  });

  test('of an object at home says since when it runs', () => {
    const started = said('Started', 'True', { lastTransitionTime: '2026-01-01T00:20:00Z' });
    expect(kind.progress(local({ status: status('Sailing', [started]) })).startTime).toBe('2026-01-01T00:20:00Z');
    expect(kind.progress(local({ status: status('Sailing', [], { startTime: '2026-01-01T00:05:00Z' }) })).startTime).toBe(
      '2026-01-01T00:05:00Z',
    );
    expect(kind.progress(local({ status: status('Moored', [started]) })).startTime).toBeUndefined();
  });

  test('of an object that rests has no pods', () => {
    const rested = kind.home.rested(local({ status: RUNNING }), [said('Dispatched', 'False')]);
    expect([kind.isSuspended(rested), kind.progress(rested).active]).toEqual([true, 0]);
    expect(kind.home.suspendedConditions('2026-01-01T01:00:00Z')).toEqual([
      { type: 'Suspended', status: 'True', reason: 'Suspended', message: 'Crew suspended', lastTransitionTime: '2026-01-01T01:00:00Z' },
    ]);
  });
});
