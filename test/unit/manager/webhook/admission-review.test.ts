import { describe, expect, test } from 'vitest';
import { DEFAULT_JOB_RULES, type JobRules } from '../../../../manager/api/job-rules.ts';
import {
  admissionReviewOf,
  mutate,
  mutateUnlabelled,
  readAdmissionReview,
  validate,
  type AdmissionRequest,
} from '../../../../manager/webhook/admission-review.ts';
import type { Job, WorkObject } from '../../../../shared/api/kubernetes.ts';
import {
  ADMISSION_ANNOTATION,
  CREATED_BY_ANNOTATION,
  KUEUE_MAX_EXEC_TIME_LABEL,
  KUEUE_QUEUE_NAME_LABEL,
  MANAGER_CONTROLLER_NAME,
  MANAGER_FIELD_MANAGER,
  ORIGIN_LABEL,
  QUEUE_NAME_LABEL,
  WORKER_CONTROLLER_NAME,
} from '../../../../shared/api/names.ts';
import { aHomeJob, anAdmittedJob } from '../../../support/jobs.ts';
import { createKinds } from '../../../../manager/work-kind/kinds.ts';
import { aCrew, aCrewKind } from '../work-kind/described/described.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';

const review = (request: unknown, parts: object = {}): string =>
  JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request, ...parts });
const aRequest = (parts: Partial<AdmissionRequest>): AdmissionRequest => ({
  uid: 'u',
  operation: 'CREATE',
  userInfo: { username: 'alice' },
  object: undefined,
  oldObject: undefined,
  ...parts,
});
const patchOf = (object: Job, rules?: JobRules): unknown => {
  const { allowed, patch, patchType } = mutate(JOB_KIND, aRequest({ object }), rules);
  expect(allowed).toBe(true);
  expect(patchType).toBe(patch === undefined ? undefined : 'JSONPatch');
  return patch === undefined ? undefined : (JSON.parse(Buffer.from(patch, 'base64').toString()) as unknown);
};
const NOTED = { op: 'add', path: '/metadata/annotations', value: { [CREATED_BY_ANNOTATION]: 'alice' } };
const bare = (parts: Parameters<typeof aHomeJob>[0] = {}): Job => {
  const job = aHomeJob(parts);
  delete job.spec.managedBy;
  delete job.spec.suspend;
  return job;
};

test('a write says in the audit log of the API server what it changes, and none of what goes as before', () => {
  const [held, moved] = [{ 'switchyard.dev/hold': 'true' }, { 'switchyard.dev/clusters': 'east' }].map((annotations) =>
    aHomeJob({ metadata: { annotations } }),
  );
  const told = (object: Job | undefined, oldObject = aHomeJob(), parts: Partial<AdmissionRequest> = {}) =>
    validate(JOB_KIND, aRequest({ operation: 'UPDATE', object, oldObject, ...parts }), { managers: [], localWorkers: [] });
  expect(told(held)).toEqual({ uid: 'u', allowed: true, auditAnnotations: { changes: 'hold' } });
  expect(told(aHomeJob(), held)).toMatchObject({ auditAnnotations: { changes: 'release' } });
  expect(told(moved)).toMatchObject({ auditAnnotations: { changes: 'set-clusters=east' } });
  const both = aHomeJob({ metadata: { annotations: { ...held?.metadata.annotations, ...moved?.metadata.annotations } } });
  expect(told(both)).toMatchObject({ auditAnnotations: { changes: 'hold, set-clusters=east' } });
  for (const unchanged of [told(aHomeJob()), told(held, held), told(held, aHomeJob(), { subResource: 'status' })])
    expect(unchanged).not.toHaveProperty('auditAnnotations');
});

describe('a review', () => {
  test('is read with what is said of the Job, of its operation and of who asks', () => {
    const object = aHomeJob();
    expect(
      readAdmissionReview(
        review({
          uid: 'u',
          operation: 'UPDATE',
          subResource: 'status',
          userInfo: { username: 'alice', uid: 'u-alice', groups: ['dev', 1] },
          dryRun: true,
          options: { fieldManager: 'kubectl-edit' },
          object,
          oldObject: object,
        }),
      ),
    ).toEqual({
      uid: 'u',
      operation: 'UPDATE',
      subResource: 'status',
      userInfo: { username: 'alice', uid: 'u-alice', groups: ['dev'] },
      dryRun: true,
      fieldManager: 'kubectl-edit',
      object,
      oldObject: object,
    });
  });

  test.each<[string, unknown]>([
    ['null, as on DELETE', null],
    ['text', 'job'],
    ['a list', []],
    ['without a spec', { metadata: {} }],
    ['without metadata', { spec: {} }],
    ['of wrong parts', { metadata: [], spec: 'x' }],
  ])('has no object where it is %s', (_what, object) => {
    expect(readAdmissionReview(review({ uid: 'u', operation: 'CREATE', object, oldObject: object }))).toEqual({
      uid: 'u',
      operation: 'CREATE',
      userInfo: {},
      object: undefined,
      oldObject: undefined,
    });
  });

  test.each([
    ['', 'the body is not a JSON object'],
    ['[]', 'the body is not a JSON object'],
    ['null', 'the body is not a JSON object'],
    ['{}', 'the body is not an admission.k8s.io/v1 AdmissionReview'],
    [review({}, { apiVersion: 'admission.k8s.io/v1beta1' }), 'the body is not an admission.k8s.io/v1 AdmissionReview'],
    [review({}, { kind: 'Review' }), 'the body is not an admission.k8s.io/v1 AdmissionReview'],
    [review(undefined), 'the AdmissionReview has no request'],
    [review([]), 'the AdmissionReview has no request'],
    [review({ operation: 'CREATE' }), 'the request has no uid or no operation'],
    [review({ uid: 7, operation: 'CREATE' }), 'the request has no uid or no operation'],
    [
      '{"__proto__": {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"}}',
      'the body is not an admission.k8s.io/v1 AdmissionReview',
    ],
  ])('%s is none: %s', (body, problem) => {
    expect(readAdmissionReview(body)).toBe(problem);
  });

  test('answers in the version that was asked', () => {
    const response = { uid: 'u', allowed: true };
    expect(admissionReviewOf(response)).toEqual({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response });
  });
});

describe('a new Job', () => {
  test('with a queue is made the manager’s, and suspended', () => {
    expect(patchOf(bare())).toEqual([
      NOTED,
      { op: 'add', path: '/spec/suspend', value: true },
      { op: 'add', path: '/spec/managedBy', value: MANAGER_CONTROLLER_NAME },
    ]);
  });

  test('is patched in what differs alone', () => {
    const noted = { metadata: { annotations: { [CREATED_BY_ANNOTATION]: 'alice' } } };
    expect(patchOf(aHomeJob({ ...noted, spec: { suspend: false } }))).toEqual([{ op: 'add', path: '/spec/suspend', value: true }]);
    expect(patchOf(aHomeJob(noted))).toBeUndefined();
  });

  test('without a queue, and a copy that the manager made, are left alone', () => {
    expect(patchOf(bare({ metadata: { labels: {} } }))).toBeUndefined();
    const copy = aHomeJob({ spec: { managedBy: WORKER_CONTROLLER_NAME, suspend: false } });
    copy.metadata.labels = { ...copy.metadata.labels, [ORIGIN_LABEL]: 'home' };
    expect(patchOf(copy)).toBeUndefined();
  });

  test('with Kueue’s label alone is left alone, or gets our label from it where the administrator has it so', () => {
    const object = bare({ metadata: { labels: { [KUEUE_QUEUE_NAME_LABEL]: 'main', [KUEUE_MAX_EXEC_TIME_LABEL]: '60' } } });
    expect(patchOf(object)).toBeUndefined();
    expect(patchOf(object, { ...DEFAULT_JOB_RULES, kueueQueueLabel: true })).toEqual([
      { op: 'add', path: '/metadata/labels/switchyard.dev~1queue-name', value: 'main' },
      { op: 'add', path: '/metadata/labels/switchyard.dev~1max-exec-time-seconds', value: '60' },
      NOTED,
      { op: 'add', path: '/spec/suspend', value: true },
      { op: 'add', path: '/spec/managedBy', value: MANAGER_CONTROLLER_NAME },
    ]);
  });

  test('says who created it, whatever stood there', () => {
    const path = `/metadata/annotations/${CREATED_BY_ANNOTATION.replace('/', '~1')}`;
    expect(patchOf(aHomeJob({ metadata: { annotations: { note: 'a' } } }))).toEqual([{ op: 'add', path, value: 'alice' }]);
    expect(patchOf(aHomeJob({ metadata: { annotations: { [CREATED_BY_ANNOTATION]: 'bob' } } }))).toEqual([
      { op: 'add', path, value: 'alice' },
    ]);
    expect(mutate(JOB_KIND, aRequest({ userInfo: {}, object: aHomeJob() }))).toEqual({ uid: 'u', allowed: true });
  });

  test('that cannot be made the manager’s is left for the other webhook to refuse', () => {
    const object = aHomeJob({ spec: { managedBy: 'example.com/other' } });
    expect(patchOf(object)).toBeUndefined();
    expect(validate(JOB_KIND, aRequest({ object }), { managers: [], localWorkers: [] })).toMatchObject({
      uid: 'u',
      allowed: false,
      status: { code: 422, reason: 'Invalid', message: expect.stringMatching(/^spec\.managedBy: /) },
    });
  });

  test('is all that is changed: other operations, and what is no Job, pass', () => {
    expect(mutate(JOB_KIND, aRequest({ operation: 'UPDATE', object: bare() }))).toEqual({ uid: 'u', allowed: true });
    expect(mutate(JOB_KIND, aRequest({}))).toEqual({ uid: 'u', allowed: true });
  });
});

describe('a write is judged', () => {
  const MANAGER = 'system:serviceaccount:switchyard:manager';
  const byManager = { userInfo: { username: MANAGER }, fieldManager: MANAGER_FIELD_MANAGER };
  const identities = { managers: [MANAGER], localWorkers: ['worker'] };
  const admission = { operation: 'UPDATE', oldObject: aHomeJob(), object: anAdmittedJob() };
  const allowed = (parts: Partial<AdmissionRequest>) => validate(JOB_KIND, aRequest(parts), identities).allowed;

  test('by who writes: only the manager admits', () => {
    expect(allowed({ ...admission, ...byManager })).toBe(true);
    expect(allowed({ ...admission, userInfo: { username: MANAGER } })).toBe(false);
    expect(allowed({ ...admission, userInfo: { username: 'alice' } })).toBe(false);
    expect(allowed({ ...admission, userInfo: {} })).toBe(false);
  });

  test('and an admission is not born with a Job', () => {
    expect(allowed({ object: anAdmittedJob({ spec: { suspend: true } }) })).toBe(false);
    expect(allowed({ object: aHomeJob() })).toBe(true);
  });

  test('also where it is of the status, from which metadata may come along', () => {
    expect(allowed({ ...admission, subResource: 'status' })).toBe(false);
    expect(allowed({ ...admission, subResource: 'status', ...byManager })).toBe(true);
  });

  test('where it can be compared; a Job may be deleted by whoever may delete Jobs', () => {
    expect(allowed({ ...admission, oldObject: undefined })).toBe(false);
    expect(allowed({ ...admission, operation: 'DELETE' })).toBe(true);
    expect(allowed({ operation: 'DELETE' })).toBe(true);
    expect(allowed({ operation: 'UPDATE' })).toBe(true);
  });

  test('with a status that names the fields', () => {
    expect(validate(JOB_KIND, aRequest({ ...admission }), identities).status).toMatchObject({
      code: 422,
      reason: 'Invalid',
      message: expect.stringMatching(/^metadata\.annotations.*; spec\.suspend: /),
    });
  });
});

describe('a new Job without a queue, in a namespace whose Jobs are managed all the same', () => {
  const kinds = createKinds(JOB_KIND, [aCrewKind()]);
  const unlabelled = (object: WorkObject, parts: Partial<AdmissionRequest> = {}, rules?: JobRules): unknown => {
    const { allowed, patch } = mutateUnlabelled(kinds, aRequest({ object, ...parts }), rules);
    expect(allowed).toBe(true);
    return patch === undefined ? undefined : (JSON.parse(Buffer.from(patch, 'base64').toString()) as unknown);
  };
  const withLabels = (labels: Record<string, string> | undefined, namespace = 'team'): Job => {
    const job = bare({ metadata: { namespace, labels: labels ?? {} } });
    if (labels === undefined) delete job.metadata.labels;
    return job;
  };
  const PREPARED = [
    NOTED,
    { op: 'add', path: '/spec/suspend', value: true },
    { op: 'add', path: '/spec/managedBy', value: MANAGER_CONTROLLER_NAME },
  ];

  test('gets the LocalQueue default, and is prepared like any other', () => {
    const added = { op: 'add', path: '/metadata/labels/switchyard.dev~1queue-name', value: 'default' };
    expect(unlabelled(withLabels({ team: 'a' }))).toEqual([added, ...PREPARED]);
    expect(unlabelled(withLabels(undefined))).toEqual([
      { op: 'add', path: '/metadata/labels', value: { [QUEUE_NAME_LABEL]: 'default' } },
      ...PREPARED,
    ]);
  });

  test('or an object of a described kind gets it, and is prepared as its description says', () => {
    const crew = aCrew({
      metadata: { name: 'crews.example.com:argo', labels: { team: 'a' } },
      spec: { policy: { managedBy: 'example.com/crew-operator' } },
    });
    expect(unlabelled(crew)).toEqual([
      { op: 'add', path: '/metadata/labels/switchyard.dev~1queue-name', value: 'default' },
      NOTED,
      { op: 'add', path: '/spec/policy/suspend', value: true },
      { op: 'add', path: '/spec/policy/managedBy', value: 'example.com/elsewhere' },
    ]);
    const ofAnother = { ...crew, spec: { ...crew.spec, policy: { managedBy: 'example.com/other' } } };
    expect(unlabelled(ofAnother)).toBeUndefined();
  });

  test('goes where the CronJob or the like wants it, but not out of the object of a described kind of which it is a part', () => {
    const ownedBy = (apiVersion: string, kind: string, controller = true): Job => {
      const job = withLabels({});
      return { ...job, metadata: { ...job.metadata, ownerReferences: [{ apiVersion, kind, name: 'a', uid: 'u', controller }] } };
    };
    expect(unlabelled(ownedBy('example.com/v1', 'Crew'))).toBeUndefined();
    expect(unlabelled(ownedBy('example.com/v1', 'Crew', false))).toBeDefined();
    expect(unlabelled(ownedBy('example.org/v1', 'Crew'))).toBeDefined();
    expect(unlabelled(ownedBy('batch/v1', 'CronJob'))).toBeDefined();
  });

  test.each<[string, Job, Partial<AdmissionRequest>?, JobRules?]>([
    ['it names a queue', withLabels({ [QUEUE_NAME_LABEL]: 'batch' })],
    ['its queue label is empty, which exempts it', withLabels({ [QUEUE_NAME_LABEL]: '' })],
    ['it is Kueue’s', withLabels({ [KUEUE_QUEUE_NAME_LABEL]: 'batch' })],
    ['it is a copy', withLabels({ [ORIGIN_LABEL]: 'other' })],
    ['it is of another controller', { ...withLabels({}), spec: { ...withLabels({}).spec, managedBy: 'example.com/other' } }],
    ['its namespace is one of Kubernetes itself', withLabels({}, 'kube-system'), {}, { ...DEFAULT_JOB_RULES, deniedNamespaces: [] }],
    ['its namespace is denied', withLabels({}, 'vault-1'), {}, { ...DEFAULT_JOB_RULES, deniedNamespaces: ['vault-*'] }],
    ['it is not new', withLabels({}), { operation: 'UPDATE' }],
  ])('is left alone if %s', (_why, object, parts, rules) => {
    expect(unlabelled(object, parts, rules)).toBeUndefined();
  });
});

describe('an object of a described kind', () => {
  const crews = aCrewKind();
  const kinds = createKinds(JOB_KIND, [crews]);
  const { metadata, spec, ...rest } = aCrew();
  const reviewed = (object: unknown, operation = 'CREATE', oldObject?: unknown): AdmissionRequest => {
    const resource = { group: 'example.com', version: 'v1', resource: 'crews' };
    const request = readAdmissionReview(
      review({ uid: 'u', operation, userInfo: { username: 'alice' }, resource, object, oldObject }),
      kinds.others,
    );
    if (typeof request === 'string') throw new Error(request);
    return request;
  };

  test('is known by its resource, and prepared in the fields that its description names', () => {
    const request = reviewed({ ...rest, metadata, spec });
    expect(request.object?.metadata.name).toBe('crews.example.com:argo');
    const { allowed, patch = '' } = mutate(kinds, request);
    expect(allowed).toBe(true);
    expect(JSON.parse(Buffer.from(patch, 'base64').toString())).toEqual([
      NOTED,
      { op: 'add', path: '/spec/policy', value: {} },
      { op: 'add', path: '/spec/policy/suspend', value: true },
      { op: 'add', path: '/spec/policy/managedBy', value: 'example.com/elsewhere' },
    ]);
  });

  test('that its API server is to name is known all the same', () => {
    const { name: _name, ...unnamed } = metadata;
    expect(mutate(kinds, reviewed({ ...rest, metadata: { ...unnamed, generateName: 'argo-' }, spec })).patch).toBeDefined();
  });

  test('is judged as well where its definition lets a user leave out the spec', () => {
    const forged = { ...rest, metadata: { ...metadata, annotations: { [ADMISSION_ANNOTATION]: '{}' } } };
    const request = reviewed(forged, 'UPDATE', { ...rest, metadata, spec });
    expect(validate(kinds, request, { managers: [], localWorkers: [] }).status?.message).toContain(ADMISSION_ANNOTATION);
    expect(reviewed({ metadata: 'none' }).object).toBeUndefined();
  });

  test('is refused where it is not prepared, and where a user writes a record', () => {
    const unprepared = validate(kinds, reviewed({ ...rest, metadata, spec }), { managers: [], localWorkers: [] });
    expect(unprepared).toMatchObject({
      allowed: false,
      status: { message: expect.stringContaining('spec.policy.managedBy: must be example.com/elsewhere for any Crew') },
    });
    const prepared = crews.prepared({ ...rest, metadata, spec } as never) as object;
    expect(validate(kinds, reviewed(prepared), { managers: [], localWorkers: [] })).toMatchObject({ allowed: true });
    const forged = { ...prepared, metadata: { ...metadata, annotations: { [ADMISSION_ANNOTATION]: '{}' } } };
    expect(validate(kinds, reviewed(forged, 'UPDATE', prepared), { managers: [], localWorkers: [] })).toMatchObject({ allowed: false });
  });

  test.each(['switchyard.dev/min-parallelism', 'kueue.x-k8s.io/job-min-parallelism'])(
    'is told that %s does nothing, and what does',
    (name) => {
      const prepared = (annotations: object): WorkObject =>
        crews.prepared({ ...rest, metadata: { ...metadata, annotations }, spec } as never);
      const warnings = [
        `metadata.annotations[${name}]: is ignored, as it is for Jobs only; minCount in its WorkKind admits a Crew with fewer pods`,
      ];
      expect(mutate(kinds, reviewed(prepared({ [name]: '2' })))).toMatchObject({ allowed: true, warnings });
      const judged = (after: object, before?: object) => {
        const request = reviewed(prepared(after), before === undefined ? 'CREATE' : 'UPDATE', before && prepared(before));
        return validate(kinds, request, { managers: [], localWorkers: [] });
      };
      expect(judged({ [name]: '2' }, {})).toMatchObject({ allowed: true, warnings });
      for (const silent of [judged({ [name]: '2' }), judged({ [name]: '2', more: 'x' }, { [name]: '2' }), judged({}, { [name]: '2' })])
        expect(silent).toEqual({ uid: 'u', allowed: true });
      const ofJob = aRequest({ object: bare({ metadata: { annotations: { [name]: '2' } } }) });
      expect(mutate(kinds, ofJob).warnings).toBeUndefined();
    },
  );
});
