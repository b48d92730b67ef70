import { describe, expect, test } from 'vitest';
import type { ResourceFlavor } from '../../../../../../manager/api/resource-flavor.ts';
import { compactJob } from '../../../../../../manager/work-kind/job/compact-job.ts';
import { essentialsOfCopy } from '../../../../../../manager/work-kind/job/copy/copy-essentials.ts';
import { copyIdentity } from '../../../../../../manager/work-kind/copy-marks.ts';
import { remoteJob, specChange } from '../../../../../../manager/work-kind/job/copy/remote-job.ts';
import type { Job, JobStatus, Unsaved } from '../../../../../../shared/api/kubernetes.ts';
import { aCondition, aHomeJob, anAdmittedJob } from '../../../../../support/jobs.ts';
import type { CopyOptions } from '../../../../../../manager/work-kind/copy-options.ts';

const OPTIONS: CopyOptions = { origin: 'm1', epoch: 3, jobController: 'switchyard.dev/worker', local: false, flavors: [] };
const flavor = (spec: NonNullable<ResourceFlavor['spec']>): ResourceFlavor => ({
  metadata: { name: 'f', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
  spec,
});
const stored = (job: ReturnType<typeof remoteJob>, parts: Partial<Job> = {}): Job => ({
  ...job,
  metadata: {
    namespace: 'team',
    name: 'sum',
    ...job.metadata,
    uid: 'uid-copy',
    resourceVersion: '1',
    creationTimestamp: '2026-01-01T00:00:00Z',
  },
  status: {},
  ...parts,
});

const TOKEN = [
  { name: 'SWITCHYARD_EPOCH', value: '3' },
  { name: 'SWITCHYARD_JOB', value: 'team/sum' },
  { name: 'SWITCHYARD_JOB_UID', value: 'uid-home-1' },
  { name: 'SWITCHYARD_MANAGER', value: 'm1' },
];

describe('the trace of a Job', () => {
  const GIVEN = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
  const TRACING = { ...OPTIONS, tracing: { ratio: 1, pods: false } };
  const copyOf = (annotations: Record<string, string>, options: CopyOptions) => {
    const { metadata, spec } = remoteJob(anAdmittedJob({ metadata: { annotations } }), options);
    const env = spec.template.spec?.containers?.[0]?.env ?? [];
    return { annotation: metadata.annotations?.['switchyard.dev/traceparent'], env: env.find(({ name }) => name === 'TRACEPARENT')?.value };
  };

  test('stands on its copy, and reaches containers where the Job or the manager asks for it', () => {
    const { annotation, env } = copyOf({}, TRACING);
    expect(annotation).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect(env).toBeUndefined();
    expect(copyOf({ 'switchyard.dev/trace-pods': 'on' }, TRACING).env).toBe(annotation);
    const all = { ...OPTIONS, tracing: { ratio: 1, pods: true } };
    expect(copyOf({}, all).env).toBe(annotation);
    expect(copyOf({ 'switchyard.dev/trace-pods': 'off' }, all).env).toBeUndefined();
  });

  test('of a submitter goes on as it is where none is exported; what is no traceparent goes nowhere', () => {
    const asked = { 'switchyard.dev/trace-pods': 'on' };
    expect(copyOf({ ...asked, 'switchyard.dev/traceparent': GIVEN }, OPTIONS)).toEqual({ annotation: GIVEN, env: GIVEN });
    expect(copyOf({ ...asked, 'switchyard.dev/traceparent': `${GIVEN}\nX: y` }, OPTIONS)).toEqual({
      annotation: undefined,
      env: undefined,
    });
    expect(copyOf(asked, OPTIONS)).toEqual({ annotation: undefined, env: undefined });
  });

  test('does not change a copy that is there, whatever its annotations say later', () => {
    const copy = stored(remoteJob(anAdmittedJob(), TRACING));
    const wanted = remoteJob(
      anAdmittedJob({ metadata: { annotations: { 'switchyard.dev/traceparent': GIVEN, 'switchyard.dev/trace-pods': 'on' } } }),
      TRACING,
    );
    expect(specChange(copy, wanted, false)).toBeUndefined();
  });
});

describe('the copy of a Job', () => {
  test('carries what the user wrote and says where it comes from', () => {
    const local = anAdmittedJob({ metadata: { labels: { team: 'a' }, annotations: { note: 'kept' } } });
    const copy = remoteJob(local, OPTIONS);
    expect(copy.metadata).toEqual({
      name: 'sum',
      namespace: 'team',
      labels: { team: 'a', 'switchyard.dev/origin': 'm1' },
      annotations: {
        note: 'kept',
        'switchyard.dev/origin-uid': 'uid-home-1',
        'switchyard.dev/dispatch-epoch': '3',
        'switchyard.dev/job-controller': 'switchyard.dev/worker',
      },
    });
    const [container] = local.spec.template.spec?.containers ?? [];
    expect(copy.spec.template.spec).toEqual({ restartPolicy: 'Never', containers: [{ ...container, env: TOKEN }] });
    expect(copyIdentity(stored(copy))).toEqual({ localKey: { namespace: 'team', name: 'sum' }, originUid: 'uid-home-1', epoch: 3 });
  });

  test('tells every container which placement it belongs to, before what the user tells it, and instead of what he tells it under these names', () => {
    const mine = { name: 'ME', value: '$(SWITCHYARD_JOB)/$(SWITCHYARD_EPOCH)' };
    const own = { name: 'SWITCHYARD_EPOCH', value: '99' };
    const spec = {
      restartPolicy: 'Never',
      initContainers: [{ name: 'fetch', image: 'busybox' }],
      containers: [
        { name: 'main', image: 'busybox', env: [mine] },
        { name: 'side', image: 'busybox', env: [mine, own] },
      ],
    };
    const local = anAdmittedJob({ spec: { template: { spec } } });
    const { initContainers, containers } = remoteJob(local, OPTIONS).spec.template.spec ?? {};
    expect(initContainers?.map(({ env }) => env)).toEqual([TOKEN]);
    expect(containers?.map(({ env }) => env)).toEqual([
      [...TOKEN, mine],
      [...TOKEN, mine],
    ]);
    expect(local.spec.template.spec).toEqual(spec);
  });

  test('made by an older manager, which told its containers nothing, is as it should be', () => {
    const local = anAdmittedJob();
    const wanted = remoteJob(local, OPTIONS);
    const copy = stored(wanted, { spec: { ...wanted.spec, template: local.spec.template } });
    expect(specChange(copy, wanted, false)).toBeUndefined();
    expect(specChange({ ...copy, spec: { ...copy.spec, suspend: true } }, wanted, false)).toEqual({ suspend: false });
  });

  test('leaves behind what belongs to the original or was generated for it', () => {
    const local = anAdmittedJob({
      metadata: {
        labels: { 'job-name': 'sum', 'controller-uid': 'uid-home-1', 'switchyard.dev/queue-name': 'q', 'kueue.x-k8s.io/queue-name': 'q' },
        annotations: { 'switchyard.dev/submission': '7', 'switchyard.dev/submitted-at': '1' },
        finalizers: ['a/b'],
        ownerReferences: [{ apiVersion: 'batch/v1', kind: 'CronJob', name: 'c', uid: 'x' }],
        generateName: 'su',
      },
      spec: { ttlSecondsAfterFinished: 10 },
      status: { active: 1 },
    });
    const copy = remoteJob(local, OPTIONS);
    expect(Object.keys(copy).toSorted()).toEqual(['apiVersion', 'kind', 'metadata', 'spec']);
    expect(Object.keys(copy.metadata).toSorted()).toEqual(['annotations', 'labels', 'name', 'namespace']);
    expect(copy.metadata.labels).toEqual({ 'switchyard.dev/origin': 'm1' });
    expect(Object.keys(copy.metadata.annotations ?? {}).toSorted()).toEqual([
      'switchyard.dev/dispatch-epoch',
      'switchyard.dev/job-controller',
      'switchyard.dev/origin-uid',
    ]);
    expect(copy.spec).not.toHaveProperty('ttlSecondsAfterFinished');
    expect(copy.spec).not.toHaveProperty('selector');
    expect(copy.spec.template.metadata?.labels).toEqual({ app: 'sum' });
    expect(copy.spec).toMatchObject({ managedBy: 'switchyard.dev/worker', suspend: false });
  });

  test('keeps the selector and the labels of a Job with a manual selector', () => {
    const labels = { 'job-name': 'mine', app: 'x' };
    const local = anAdmittedJob({
      spec: { manualSelector: true, selector: { matchLabels: labels }, template: { metadata: { labels }, spec: { containers: [] } } },
    });
    const copy = remoteJob(local, OPTIONS);
    expect(copy.spec).toMatchObject({ manualSelector: true, selector: { matchLabels: labels }, template: { metadata: { labels } } });
  });

  test('has no managedBy where only the built-in Job controller runs', () => {
    expect(remoteJob(anAdmittedJob(), { ...OPTIONS, jobController: 'kubernetes.io/job-controller' }).spec).not.toHaveProperty('managedBy');
  });

  test('keeps fields that no model of ours knows', () => {
    const local = anAdmittedJob({ spec: Object.fromEntries([['fieldOfTomorrow', { deep: [1, 2] }]]) });
    expect(remoteJob(local, OPTIONS).spec).toMatchObject({ fieldOfTomorrow: { deep: [1, 2] } });
  });

  test('gets the node labels and tolerations of its flavors, once', () => {
    const local = anAdmittedJob({
      spec: {
        template: { spec: { containers: [], nodeSelector: { zone: 'a' }, tolerations: [{ key: 'gpu', operator: 'Exists' }] } },
      },
    });
    const flavors = [
      flavor({ nodeLabels: { tier: 'spot' }, tolerations: [{ key: 'spot', operator: 'Exists' }] }),
      flavor({ nodeLabels: { gpu: 'a100' }, tolerations: [{ operator: 'Exists', key: 'gpu' }] }),
    ];
    expect(remoteJob(local, { ...OPTIONS, flavors }).spec.template.spec).toMatchObject({
      nodeSelector: { zone: 'a', tier: 'spot', gpu: 'a100' },
      tolerations: [
        { key: 'gpu', operator: 'Exists' },
        { key: 'spot', operator: 'Exists' },
      ],
    });
    expect(local.spec.template.spec?.nodeSelector).toEqual({ zone: 'a' });
  });

  test('beside its original has a name of its own that leads back, with room for an index', () => {
    const name = 'a'.repeat(63);
    const local = anAdmittedJob({ metadata: { name, uid: '12345678-90ab' } });
    const copy = remoteJob(local, { ...OPTIONS, local: true });
    expect(copy.metadata.name).toBe(`${'a'.repeat(42)}-12345678`);
    expect(copyIdentity(stored(copy))?.localKey).toEqual({ namespace: 'team', name });
  });

  test('of a manager that put nothing into its template says nothing of its origin when its annotations are damaged', () => {
    const copy = stored(remoteJob(anAdmittedJob(), OPTIONS));
    copy.metadata.annotations = { 'switchyard.dev/origin-uid': 'x', 'switchyard.dev/dispatch-epoch': 'soon' };
    copy.spec.template.spec = { containers: [] };
    expect(copyIdentity(copy)).toBeUndefined();
  });
});

test('no copy is made of a Job of which parts are not cached', () => {
  expect(() => remoteJob(compactJob(anAdmittedJob()), OPTIONS)).toThrow('no copy can be made of Job team/sum: parts of it are not cached');
});

describe('the change of a copy that follows its original', () => {
  test('is nothing when they agree', () => {
    const wanted = remoteJob(anAdmittedJob(), OPTIONS);
    expect(specChange(stored(wanted), wanted, false)).toBeUndefined();
  });

  test('suspends and resumes, and carries edits of mutable fields', () => {
    const copy = stored(remoteJob(anAdmittedJob({ spec: { activeDeadlineSeconds: 60 } }), OPTIONS));
    const wanted = remoteJob(anAdmittedJob({ spec: { parallelism: 4 } }), OPTIONS);
    expect(specChange(copy, wanted, true)).toEqual({ suspend: true, parallelism: 4, activeDeadlineSeconds: null });
  });

  test('has an Indexed Job of another size follow in two steps where its parallelism has moved on, and rest where it would run too many', () => {
    const sized = (parallelism: number, completions: number, suspend = false) =>
      remoteJob(anAdmittedJob({ spec: { completionMode: 'Indexed', parallelism, completions, suspend } }), OPTIONS);
    expect(specChange(stored(sized(4, 4)), sized(2, 3), false)).toEqual({ parallelism: 3, completions: 3 });
    expect(specChange(stored(sized(3, 3)), sized(2, 3), false)).toEqual({ parallelism: 2 });
    expect(specChange(stored(sized(5, 4)), sized(2, 5), false)).toEqual({ suspend: true, completions: 5 });
    expect(specChange(stored(sized(4, 4)), sized(6, 6), false)).toEqual({ parallelism: 6, completions: 6 });
  });

  test('gives it more pods only when none of it stop, or are yet to', () => {
    const sized = (parallelism: number) => remoteJob(anAdmittedJob({ spec: { parallelism, completions: 9 } }), OPTIONS);
    const raised = (from: number, to: number, status: JobStatus) => specChange(stored(sized(from), { status }), sized(to), false);
    expect(raised(1, 4, { active: 1 })).toEqual({ parallelism: 4 });
    expect(raised(1, 4, { active: 1, terminating: 2 })).toBeUndefined();
    expect(raised(1, 4, { active: 4 })).toBeUndefined();
    expect(raised(4, 1, { active: 3, terminating: 1 })).toEqual({ parallelism: 1 });
    const suspended = stored({ ...sized(1), spec: { ...sized(1).spec, suspend: true } }, { status: { terminating: 1 } });
    expect(specChange(suspended, sized(4), true)).toEqual({ parallelism: 4 });
  });

  test('moves the pods to another flavor only while the copy is suspended and nothing of it is active', () => {
    const old = remoteJob(anAdmittedJob(), { ...OPTIONS, flavors: [flavor({ nodeLabels: { tier: 'spot' } })] });
    const wanted = remoteJob(aHomeJob(), { ...OPTIONS, flavors: [flavor({ nodeLabels: { tier2: 'demand' } })] });
    const suspended = { ...old, spec: { ...old.spec, suspend: true } };
    const conditions = [aCondition('Suspended')];
    expect(specChange(stored(suspended, { status: { conditions } }), wanted, false)).toEqual({
      suspend: false,
      template: { spec: { nodeSelector: { tier: null, tier2: 'demand' } } },
    });
    expect(specChange(stored(suspended, { status: { conditions, active: 1 } }), wanted, true)).toBeUndefined();
  });
});

describe('resources that change while a copy rests', () => {
  const asking = (cpu: string, init = '1'): Job =>
    aHomeJob({
      spec: {
        template: {
          spec: {
            restartPolicy: 'Never',
            initContainers: [{ name: 'init', image: 'busybox', resources: { requests: { cpu: init } } }],
            containers: [{ name: 'main', image: 'busybox', resources: { requests: { cpu } } }],
          },
        },
      },
    });
  const resting = (made: Unsaved<Job>, active = 0): Job =>
    stored({ ...made, spec: { ...made.spec, suspend: true } }, { status: { active, conditions: [aCondition('Suspended')] } });

  test('reach it in the write that resumes it, each container with all that it has, of which the cache knows a part', () => {
    const copy = essentialsOfCopy(resting(remoteJob(asking('1'), OPTIONS)), false);
    const more = remoteJob(asking('2'), OPTIONS);
    expect(specChange(copy, more, false)).toEqual({
      suspend: false,
      template: { spec: { containers: [{ name: 'main', image: 'busybox', env: TOKEN, resources: { requests: { cpu: '2' } } }] } },
    });
    expect(specChange(copy, remoteJob(asking('1', '3'), OPTIONS), false)).toMatchObject({
      template: { spec: { initContainers: [{ name: 'init', image: 'busybox', resources: { requests: { cpu: '3' } } }] } },
    });
  });

  test('of the whole pod are taken away where the original has none any more', () => {
    const copy = resting(remoteJob(asking('1'), OPTIONS));
    if (copy.spec.template.spec !== undefined) copy.spec.template.spec.resources = { limits: { cpu: '4' } };
    expect(specChange(copy, remoteJob(asking('1'), OPTIONS), true)).toEqual({ template: { spec: { resources: null } } });
  });

  test('keep a copy from being resumed while something of it still runs', () => {
    const copy = resting(remoteJob(asking('1'), OPTIONS), 1);
    expect(specChange(copy, remoteJob(asking('2'), OPTIONS), false)).toBeUndefined();
  });
});
