/**
 * Goal: of objects of described kinds, wherever their fields are and whatever stands there, API servers with our policies and the webhook
 * are of one mind, and the webhook is asked about what it would refuse.
 */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { WorkKindSpec } from '../../../../manager/api/work-kind.ts';
import { admissionPolicies, policiesOfKind } from '../../../../manager/policy/admission-policies.ts';
import { describedForm, inlined, isJudgedBy, usedBy, variablesOf } from '../../../../manager/policy/cel-variables.ts';
import { NAMED_PARTS } from '../../../../manager/policy/job-parts.ts';
import { judgeWrite } from '../../../../manager/policy/judge-write.ts';
import { wordsOf } from '../../../../manager/policy/write-rule.ts';
import { matchConditions } from '../../../../manager/policy/webhook-conditions.ts';
import { recognize, type Identities } from '../../../../manager/policy/writer.ts';
import { validateJob } from '../../../../manager/webhook/validate-job.ts';
import { describedKind } from '../../../../manager/work-kind/described/described-kind.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';
import { createKinds } from '../../../../manager/work-kind/kinds.ts';
import { qualifiedName } from '../../../../manager/work-kind/qualified-name.ts';
import { parsePath, withValueAt } from '../../../../shared/api/field-path.ts';
import type { WorkObject } from '../../../../shared/api/kubernetes.ts';
import {
  ADMISSION_ANNOTATION,
  COPIES_FINALIZER,
  MANAGER_CONTROLLER_NAME,
  MANAGER_FIELD_MANAGER,
  ORIGIN_LABEL,
  QUEUE_NAME_LABEL,
  STATUS_ANNOTATION,
  SUBMISSION_ANNOTATION,
  SUBMISSION_USER_EXTRA,
} from '../../../../shared/api/names.ts';
import { omitUndefined } from '../../../../shared/runtime/omit-undefined.ts';
import { matches, violations, type PolicyRequest } from '../../../support/policy-evaluation.ts';
import { aCrew, aCrewPod, compiled, CREW_SPEC, SHIPPED } from '../work-kind/described/described.ts';

const IDENTITIES: Identities = { managers: ['manager'], localWorkers: ['worker'] };
const { managedBy: _managedBy, ...CREW_OF_NOBODY } = CREW_SPEC;
const KINDS: readonly (readonly [string, WorkKindSpec])[] = [
  ...['JobSet', 'RayJob', 'PyTorchJob'].map((name) => [name, SHIPPED.get(name)?.spec ?? CREW_SPEC] as const),
  ['Crew, whose definition allows anything', CREW_SPEC],
  ['Crew that names no manager', CREW_OF_NOBODY],
];

const policiesOf = (...kinds: Parameters<typeof admissionPolicies>[2] & object) =>
  admissionPolicies('switchyard', IDENTITIES, kinds)
    .filter(({ kind, metadata: { name } }) => kind === 'ValidatingAdmissionPolicy' && !/-(override|manager(-.*)?)$/.test(name))
    .map(({ spec }) => spec);
const resourceOf = ({ group, version, resource: plural, kind }: WorkKindSpec) => ({ group, version, plural, kind, namespaced: true });

const NAMES: Record<string, string[]> = { labels: ['team'], annotations: ['note'], finalizers: ['example.com/keep'] };
for (const { place, name } of NAMED_PARTS) NAMES[place]?.push(name);
const mapOf = (place: string): fc.Arbitrary<Record<string, string> | undefined> =>
  fc.option(fc.dictionary(fc.constantFrom(...(NAMES[place] ?? [])), fc.constantFrom('', 'a'), { maxKeys: 3 }), { nil: undefined });
const metadataOf = fc
  .record({
    labels: mapOf('labels'),
    annotations: mapOf('annotations'),
    finalizers: fc.option(fc.uniqueArray(fc.constantFrom(...(NAMES['finalizers'] ?? [])), { maxLength: 2 }), { nil: undefined }),
    isQueued: fc.boolean(),
  })
  .map(({ isQueued, labels, ...others }) =>
    omitUndefined({ ...others, labels: isQueued ? { ...labels, [QUEUE_NAME_LABEL]: 'main' } : labels }),
  );

/** What stands at the paths of a kind, and what its definition may let users write there instead. */
const specOf = ({ suspend, managedBy }: WorkKindSpec): fc.Arbitrary<Record<string, unknown> | undefined> => {
  const odd = [null, 'text', [], 7] as const;
  const put = (object: object, path: string, value: unknown): object =>
    value === undefined ? object : withValueAt(object, parsePath(path) ?? [], value);
  const names = [
    managedBy?.home,
    managedBy?.home,
    managedBy?.operator?.[0],
    managedBy?.path === 'spec.managedBy' ? MANAGER_CONTROLLER_NAME : undefined,
    'example.com/other',
    undefined,
  ];
  return fc
    .record({
      suspended: fc.constantFrom(true, true, false, undefined, ...odd),
      controller: fc.constantFrom(...names, ...odd),
      parent: fc.constantFrom(...Array.from({ length: 12 }, () => undefined), ...odd),
      isAbsent: fc.integer({ min: 0, max: 12 }),
      course: fc.constantFrom('north', 'south'),
    })
    .map(({ suspended, controller, parent, isAbsent, course }) => {
      if (isAbsent === 0) return undefined;
      const with1 = put({ spec: { course } }, suspend, suspended);
      const with2 = managedBy === undefined ? with1 : put(with1, managedBy.path, controller);
      const above = suspend.split('.').slice(0, -1).join('.');
      const all = parent === undefined || above === 'spec' ? with2 : put(with2, above, parent);
      return (all as { spec: Record<string, unknown> }).spec;
    });
};

const requestsOf = (spec: WorkKindSpec): fc.Arbitrary<PolicyRequest> => {
  const version = fc.record({ metadata: metadataOf, spec: specOf(spec) });
  const objectOf = (parts: { metadata: object; spec: Record<string, unknown> | undefined }): WorkObject =>
    ({ metadata: { name: 'a', namespace: 'team', ...parts.metadata }, ...omitUndefined({ spec: parts.spec }) }) as WorkObject;
  return fc
    .record({
      before: version,
      after: version,
      what: fc.constantFrom('all', 'metadata', 'spec', 'spec', 'nothing'),
      operation: fc.constantFrom('CREATE', 'UPDATE', 'UPDATE', 'STATUS'),
      username: fc.constantFrom('alice', 'a', 'manager', 'worker'),
      fieldManager: fc.constantFrom(undefined, 'kubectl-edit', MANAGER_FIELD_MANAGER),
      extra: fc.constantFrom(undefined, { [SUBMISSION_USER_EXTRA]: ['team/batch'] }),
    })
    .map(({ before, after, what, operation, username, fieldManager, extra }) => {
      const changed = {
        metadata: what === 'all' || what === 'metadata' ? after.metadata : before.metadata,
        spec: (what === 'all' || what === 'spec') && operation !== 'STATUS' ? after.spec : before.spec,
      };
      return {
        resource: resourceOf(spec),
        subresource: operation === 'STATUS' ? 'status' : '',
        object: objectOf(changed),
        oldObject: operation === 'CREATE' ? undefined : objectOf(before),
        username,
        fieldManager,
        ...omitUndefined({ extra }),
      };
    });
};

/** The number of pods is judged apart (described-pods.test.ts): the webhook reads an absent spec as an empty one. */
const isAboutPods = (problem: string): boolean => /^cannot (?:grow|let the \w+ have more pods)/.test(problem);

/** Fields that the webhook refuses. */
function judgedBy(spec: WorkKindSpec): (request: PolicyRequest) => string[] {
  const kind = describedKind(compiled(spec));
  const read = (object: WorkObject): WorkObject => ({ ...object, spec: object.spec ?? {} });
  return ({ subresource, object, oldObject, username, fieldManager, extra }) =>
    judgeWrite(kind, {
      subresource,
      job: read(object),
      oldJob: oldObject && read(oldObject),
      writer: recognize(username, fieldManager, IDENTITIES, extra).writer,
      username,
    }).flatMap(({ field, problem }) => (isAboutPods(problem) ? [] : [field]));
}
/** Only somebody who passes by the rules can give record and finalizer to an object that is not the manager’s; its status is held, too. */
function statusOfARecord({ subresource, oldObject, username, fieldManager }: PolicyRequest): string[] {
  const { annotations, finalizers } = oldObject?.metadata ?? {};
  const isRecorded = annotations?.[ADMISSION_ANNOTATION] !== undefined && finalizers?.includes(COPIES_FINALIZER) === true;
  const byManager = username === 'manager' && fieldManager === MANAGER_FIELD_MANAGER;
  return subresource === 'status' && isRecorded && !byManager ? ['status'] : [];
}
const fieldsOf = (messages: readonly string[]): string[] =>
  [
    ...new Set(
      messages.flatMap((each) => {
        const [field = '', ...problem] = each.split(': ');
        return isAboutPods(problem.join(': ')) ? [] : [field];
      }),
    ),
  ].toSorted();

describe.each(KINDS)('of a %s', (_name, spec) => {
  const policies = policiesOf(spec);
  const judged = judgedBy(spec);

  test('the policies refuse what the webhook refuses, for the same fields, and nothing else', () => {
    let [refused, runs] = [0, 0];
    fc.assert(
      fc.property(requestsOf(spec), (request) => {
        runs += 1;
        const fields = fieldsOf(policies.flatMap((policy) => violations(policy, request)));
        expect(fields).toEqual([...new Set([...judged(request), ...statusOfARecord(request)])].toSorted());
        if (fields.length > 0) refused += 1;
      }),
      { numRuns: 1_000, seed: 8 },
    );
    expect(refused / runs).toBeGreaterThan(0.2);
  });

  test('whatever the webhook would refuse it is asked about, unless the manager itself writes', () => {
    const conditions = matchConditions('Validating', IDENTITIES);
    fc.assert(
      fc.property(requestsOf(spec), (request) => {
        // The manager is away when the fence suspends copies; of copies the operators write the status; no original is marked as one.
        const { labels, finalizers } = request.oldObject?.metadata ?? {};
        const isCopy =
          labels?.[ORIGIN_LABEL] !== undefined && labels[QUEUE_NAME_LABEL] === undefined && !finalizers?.includes(COPIES_FINALIZER);
        const isFence = labels?.[ORIGIN_LABEL] !== undefined && request.username === 'worker';
        if (judged(request).length > 0 && !isFence && !(isCopy && request.subresource === 'status'))
          expect(matches(conditions, request)).toBe(true);
      }),
      { numRuns: 500, seed: 9 },
    );
  });
});

describe('a kind of which nobody has told the policies where its fields are', () => {
  const crews = policiesOf({ group: 'example.com', resource: 'crews' });
  const refusals = (request: Partial<PolicyRequest>): string[] =>
    crews.flatMap((policy) =>
      violations(policy, {
        resource: resourceOf(CREW_SPEC),
        subresource: '',
        object: crew(),
        oldObject: undefined,
        username: 'alice',
        fieldManager: 'kubectl',
        ...request,
      }),
    );
  const crew = (metadata: object = {}, spec: object = {}): WorkObject =>
    ({ metadata: { name: 'argo', namespace: 'team', ...metadata }, spec }) as WorkObject;
  const RECORDED = { annotations: { [ADMISSION_ANNOTATION]: '{}' }, finalizers: [COPIES_FINALIZER] };

  test('has its marks and, once it has a record, its status held by them, and nothing that depends on fields', () => {
    expect(refusals({ object: crew({ annotations: { [ADMISSION_ANNOTATION]: '{}' } }) })).toEqual([
      `metadata.annotations[${ADMISSION_ANNOTATION}]: is written by Switchyard only; leave it as it is, and out of a new object`,
    ]);
    expect(fieldsOf(refusals({ oldObject: crew(RECORDED) }))).toEqual([
      `metadata.annotations[${ADMISSION_ANNOTATION}]`,
      `metadata.finalizers[${COPIES_FINALIZER}]`,
    ]);
    expect(fieldsOf(refusals({ object: crew({ annotations: { [STATUS_ANNOTATION]: '[]' } }) }))).toEqual([
      `metadata.annotations[${STATUS_ANNOTATION}]`,
    ]);
    const status = { subresource: 'status', object: crew(RECORDED), oldObject: crew(RECORDED) };
    expect(fieldsOf(refusals(status))).toEqual(['status']);
    expect(refusals({ ...status, object: crew(), oldObject: crew() })).toEqual([]);
    expect(
      refusals({ object: crew(RECORDED, { policy: { suspend: false } }), oldObject: crew(RECORDED, { policy: { suspend: true } }) }),
    ).toEqual([]);
  });

  test('is the manager’s to write, and a submission’s to create', () => {
    const byManager = { username: 'manager', fieldManager: MANAGER_FIELD_MANAGER };
    expect(refusals({ object: crew(RECORDED), oldObject: crew(), ...byManager })).toEqual([]);
    const submitted = crew({ annotations: { [SUBMISSION_ANNOTATION]: '7' } });
    const bySubmission = { username: 'team', fieldManager: MANAGER_FIELD_MANAGER, extra: { [SUBMISSION_USER_EXTRA]: ['team/batch'] } };
    expect(refusals({ object: submitted, ...bySubmission })).toEqual([]);
    expect(fieldsOf(refusals({ object: submitted }))).toEqual([`metadata.annotations[${SUBMISSION_ANNOTATION}]`]);
    expect(fieldsOf(refusals({ object: submitted, oldObject: crew(), ...bySubmission }))).toEqual([
      `metadata.annotations[${SUBMISSION_ANNOTATION}]`,
    ]);
  });
});

test('what is refused is told with the fields of the kind, by policies and webhook alike', () => {
  const [, spec = CREW_SPEC] = KINDS.find(([name]) => name === 'PyTorchJob') ?? [];
  const metadata = { name: 'a', namespace: 'team', labels: { [QUEUE_NAME_LABEL]: 'main' } };
  const runPolicy = (suspend: boolean, managedBy = 'kueue.x-k8s.io/multikueue'): WorkObject => ({
    ...aCrew(),
    metadata: { ...aCrew().metadata, ...metadata },
    spec: { runPolicy: { suspend, managedBy } },
  });
  const told = (object: WorkObject): string[] => {
    const request = {
      resource: resourceOf(spec),
      subresource: '',
      object,
      oldObject: runPolicy(true),
      username: 'alice',
      fieldManager: 'kubectl',
    };
    const messages = policiesOf(spec).flatMap((policy) => violations(policy, request));
    expect(judgedBy(spec)(request)).toEqual(fieldsOf(messages));
    return messages;
  };
  expect(told(runPolicy(false))).toEqual([
    'spec.runPolicy.suspend: is set to false by the manager when the PyTorchJob is admitted; leave it true',
  ]);
  expect(told(runPolicy(true, 'kubeflow.org/training-operator'))).toEqual([
    'spec.runPolicy.managedBy: says who runs the PyTorchJob, and stays as it is; delete the PyTorchJob, and create it with the other value',
  ]);
  for (const { validations } of policiesOfKind(spec))
    for (const { message } of validations) expect(message).not.toMatch(/spec\.(suspend|managedBy|parallelism)|\bJob\b/);
  expect(wordsOf({ resource: { kind: 'Job' }, fields: undefined })).toMatchObject({ suspend: 'spec.suspend', pods: 'spec.parallelism' });
});

test('the webhook says of a described kind what it is, with its fields', () => {
  const kind = createKinds(JOB_KIND, [describedKind(compiled(CREW_SPEC))]);
  const write = (suspended: boolean, hands: number, metadata: object = {}): WorkObject => {
    const object = aCrew({ metadata: { name: qualifiedName('crews.example.com', 'argo'), ...metadata } });
    const [captain, groups] = [aCrewPod('1'), [{ name: 'deck', hands, pod: aCrewPod('1') }]];
    return { ...object, spec: { captain, groups, policy: { suspend: suspended, managedBy: 'example.com/elsewhere' } } } as WorkObject;
  };
  const told = (oldJob: WorkObject | undefined, job: WorkObject): string[] =>
    validateJob(kind, { subresource: '', job, oldJob, writer: 'User', username: 'alice' }).map(
      ({ field, problem }) => `${field}: ${problem}`,
    );
  const ADMITTED = { annotations: { [ADMISSION_ANNOTATION]: '{}' } };
  expect(told(write(false, 2, ADMITTED), write(false, 3, ADMITTED))).toEqual([
    'spec: cannot grow from 3 to 4 pods while the Crew is admitted, because quota was reserved for 3; set spec.policy.suspend to true and ' +
      'annotation switchyard.dev/hold to false with it, and the Crew is admitted anew',
  ]);
  expect(told(undefined, write(false, 2))).toEqual([
    'spec.policy.suspend: must be true in a new Crew with a queue: it is released when it is admitted',
  ]);
  const other = withValueAt(write(true, 2), ['spec', 'policy', 'managedBy'], 'example.com/other');
  expect(told(undefined, other)).toEqual([
    'spec.policy.managedBy: is "example.com/other", but any Crew with the label switchyard.dev/queue-name is managed by ' +
      'example.com/elsewhere; leave the field out',
  ]);
  const operators = withValueAt(other, ['spec', 'policy', 'managedBy'], 'example.com/crew-operator');
  expect(told(undefined, operators)).toEqual([
    'spec.policy.managedBy: must be example.com/elsewhere for any Crew with the label switchyard.dev/queue-name',
  ]);
  expect(told(operators, operators)).toEqual([]);
});

test('a rule goes to the policies that know what it asks for, with the variables that it uses', () => {
  const [crews, nothing] = [variablesOf(describedForm(CREW_SPEC)), variablesOf(describedForm(CREW_OF_NOBODY))];
  expect(isJudgedBy('variables.managed && variables.byManager', crews)).toBe(true);
  expect([isJudgedBy('variables.pods > 1', crews), isJudgedBy('variables.parallelism > 1', crews)]).toEqual([true, false]);
  expect(isJudgedBy('variables.pods > 1', variablesOf(describedForm({ suspend: 'spec.suspend' })))).toBe(false);
  expect(usedBy(['variables.oldQueue'], crews).map(({ name }) => name)).toEqual(['oldLabels', 'oldQueue']);
  expect(inlined('variables.namesManager', nothing)).toBe('(true)');
});
