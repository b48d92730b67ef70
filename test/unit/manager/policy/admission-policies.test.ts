/** Goal: whatever is written, API servers with our policies and the webhook are of one mind, and whoever matters is seen. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { admissionPolicies, POLICY_PARTS, policiesOfKind } from '../../../../manager/policy/admission-policies.ts';
import { inlined, JOB_VARIABLES, quoted, withIdentities } from '../../../../manager/policy/cel-variables.ts';
import { NAMED_PARTS } from '../../../../manager/policy/job-parts.ts';
import { judgeWrite } from '../../../../manager/policy/judge-write.ts';
import { MATCH_CONDITIONS, matchConditions } from '../../../../manager/policy/webhook-conditions.ts';
import { recognize, type Identities } from '../../../../manager/policy/writer.ts';
import type { Job } from '../../../../shared/api/kubernetes.ts';
import {
  BUILT_IN_JOB_CONTROLLER_NAME,
  MANAGER_CONTROLLER_NAME,
  MANAGER_FIELD_MANAGER,
  SUBMISSION_USER_EXTRA,
  WORKER_CONTROLLER_NAME,
} from '../../../../shared/api/names.ts';
import { omitUndefined } from '../../../../shared/runtime/omit-undefined.ts';
import { matches, violations, type PolicyRequest } from '../../../support/policy-evaluation.ts';
import { CREW_SPEC } from '../work-kind/described/described.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';

const IDENTITIES: Identities = { managers: ['manager'], localWorkers: ['worker'] };
/** Without the one about the manager's account, of whose writes the webhook does not hear. */
const POLICIES = admissionPolicies('switchyard', IDENTITIES)
  .filter(({ kind, metadata }) => kind === 'ValidatingAdmissionPolicy' && metadata.name !== 'switchyard-manager')
  .map(({ spec }) => spec);

const NAMES = { labels: ['team'], annotations: ['note'], finalizers: ['example.com/keep'] } as Record<string, string[]>;
for (const { place, name } of NAMED_PARTS) NAMES[place]?.push(name);

/** Each name is rare, so that what a rule looks for is often all there is. */
const mapOf = (place: string): fc.Arbitrary<Record<string, string> | undefined> =>
  fc.option(fc.dictionary(fc.constantFrom(...(NAMES[place] ?? [])), fc.constantFrom('', 'a', 'b'), { maxKeys: 3 }), { nil: undefined });
const metadata = fc.record({
  labels: mapOf('labels'),
  annotations: mapOf('annotations'),
  finalizers: fc.option(fc.uniqueArray(fc.constantFrom(...(NAMES['finalizers'] ?? [])), { maxLength: 2 }), { nil: undefined }),
});
const spec = fc.record({
  suspend: fc.constantFrom(undefined, true, false),
  parallelism: fc.constantFrom(undefined, 0, 1, 3),
  completions: fc.constantFrom(undefined, 0, 2, 5),
  template: fc.constantFrom({ spec: { containers: [] } }, { spec: { containers: [], nodeSelector: { a: 'b' } } }),
});
const managedBy = fc.constantFrom(
  undefined,
  MANAGER_CONTROLLER_NAME,
  MANAGER_CONTROLLER_NAME,
  WORKER_CONTROLLER_NAME,
  BUILT_IN_JOB_CONTROLLER_NAME,
);

const defined = (object: object): object => Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
const jobOf = (parts: { metadata: object; spec: object }, controller: string | undefined): Job =>
  ({
    metadata: { name: 'a', namespace: 'team', ...defined(parts.metadata) },
    spec: defined({ ...parts.spec, managedBy: controller }),
  }) as Job;

/** Two versions of a Job: often the second differs in one thing from the first. */
const job = fc.record({ metadata, spec });
const pair = fc
  .tuple(job, job, fc.constantFrom('all', 'labels', 'annotations', 'finalizers', 'spec', 'nothing'))
  .map(([before, after, what]) => {
    if (what === 'all') return [before, after] as const;
    if (what === 'spec') return [before, { ...before, spec: after.spec }] as const;
    if (what === 'nothing') return [before, before] as const;
    return [before, { ...before, metadata: { ...before.metadata, [what]: after.metadata[what as 'labels'] } }] as const;
  });
const request: fc.Arbitrary<PolicyRequest> = fc
  .record({
    pair,
    managedBy,
    operation: fc.constantFrom('CREATE', 'UPDATE', 'UPDATE', 'STATUS'),
    username: fc.constantFrom('alice', 'a', 'manager', 'worker'),
    fieldManager: fc.constantFrom(undefined, 'kubectl-edit', MANAGER_FIELD_MANAGER),
    extra: fc.constantFrom(undefined, { 'example.com/team': ['a'] }, { [SUBMISSION_USER_EXTRA]: ['team/batch'] }),
  })
  .map(({ pair: [before, after], managedBy: controller, operation, username, fieldManager, extra }) => ({
    subresource: operation === 'STATUS' ? 'status' : '',
    object: jobOf(operation === 'STATUS' ? { ...after, spec: before.spec } : after, controller),
    oldObject: operation === 'CREATE' ? undefined : jobOf(before, controller),
    username,
    fieldManager,
    ...omitUndefined({ extra }),
  }));

const judged = ({ subresource, object, oldObject, username, fieldManager, extra }: PolicyRequest): string[] =>
  judgeWrite(JOB_KIND, {
    subresource,
    job: object,
    oldJob: oldObject,
    writer: recognize(username, fieldManager, IDENTITIES, extra).writer,
    username: username ?? '',
  }).map(({ field }) => field);
const fieldOfMessage = (message: string): string => message.slice(0, message.indexOf(': '));

test('the policies refuse what the webhook refuses, for the same fields, and nothing else', () => {
  let [refused, runs] = [0, 0];
  fc.assert(
    fc.property(request, (each) => {
      runs += 1;
      const fields = POLICIES.flatMap((policy) => violations(policy, each)).map(fieldOfMessage);
      expect(fields.toSorted()).toEqual(judged(each).toSorted());
      if (fields.length > 0) refused += 1;
    }),
    { numRuns: 2_000, seed: 8 },
  );
  expect(refused / runs).toBeGreaterThan(0.2);
});

test('whatever the webhook would refuse it is asked about, unless the manager itself writes', () => {
  const conditions = matchConditions('Validating', IDENTITIES);
  fc.assert(
    fc.property(request, (each) => {
      if (judged(each).length > 0) expect(matches(conditions, each)).toBe(true);
    }),
    { numRuns: 1_000, seed: 9 },
  );
});

describe('the policies', () => {
  test('have the variables that they use, and no others', () => {
    for (const { name, variables, validations, matchConditions: conditions } of [...POLICY_PARTS, ...policiesOfKind(CREW_SPEC)]) {
      const known = new Set(['managers', 'localWorkers', ...variables.map((each) => each.name)]);
      const used = new Set(
        [...variables, ...validations].flatMap(({ expression }) => [...expression.matchAll(/variables\.(\w+)/g)].map(([, each]) => each)),
      );
      expect(
        [...used].filter((each) => !known.has(each ?? '')),
        name,
      ).toEqual([]);
      expect(
        variables.map((each) => each.name).filter((each) => !used.has(each)),
        name,
      ).toEqual([]);
      expect(
        conditions.map(({ expression }) => expression.replaceAll(/variables\.(managers|localWorkers)/g, '')).join(),
        name,
      ).not.toContain('variables.');
    }
  });

  test('are four, each with its binding, and say for themselves who the manager is', () => {
    const objects = admissionPolicies('release', IDENTITIES);
    expect(objects.map(({ kind, metadata: { name } }) => `${kind} ${name}`)).toEqual([
      'ValidatingAdmissionPolicy release-own',
      'ValidatingAdmissionPolicyBinding release-own',
      'ValidatingAdmissionPolicy release-shared',
      'ValidatingAdmissionPolicyBinding release-shared',
      'ValidatingAdmissionPolicy release-manager',
      'ValidatingAdmissionPolicyBinding release-manager',
      'ValidatingAdmissionPolicy release-override',
      'ValidatingAdmissionPolicyBinding release-override',
    ]);
    expect(objects[1]?.spec).toEqual({ policyName: 'release-own', validationActions: ['Deny'] });
    expect(objects[7]?.spec).toEqual({ policyName: 'release-override', validationActions: ['Warn', 'Audit'] });
    const own = objects[0]?.spec as { readonly variables: readonly object[] };
    expect(own.variables.slice(0, 2)).toEqual([
      { name: 'managers', expression: '["manager"]' },
      { name: 'localWorkers', expression: '["worker"]' },
    ]);
  });

  test('refuse the manager’s own words even when they cannot be evaluated, and the rest only when they can', () => {
    expect(POLICY_PARTS.map(({ name, failurePolicy }) => [name, failurePolicy])).toEqual([
      ['own', 'Fail'],
      ['shared', 'Ignore'],
      ['manager', 'Fail'],
      ['manager-kinds', 'Fail'],
      ['kinds', 'Fail'],
      ['override', 'Ignore'],
    ]);
  });

  test('use each variable after it is defined, and go through no map or list of a Job', () => {
    const known = new Set(['managers', 'localWorkers']);
    for (const { name, expression } of JOB_VARIABLES) {
      for (const [, used = ''] of expression.matchAll(/variables\.(\w+)/g)) expect(known, name).toContain(used);
      known.add(name);
    }
    const expressions = [...JOB_VARIABLES, ...POLICY_PARTS.flatMap(({ validations }) => validations)].map(({ expression }) => expression);
    expect(expressions.filter((each) => /\.(all|exists|exists_one|map|filter)\(/.test(each))).toEqual([]);
    // Match conditions go through lists of names of ours, which do not grow with a Job.
    for (const { expression } of Object.values(MATCH_CONDITIONS).flat())
      for (const [, over] of expression.matchAll(/(.)\.(?:all|exists|exists_one|map|filter)\(/g)) expect(over).toBe(']');
  });
});

describe('an expression', () => {
  test('is written out where there are no variables, but for the lists of an installation', () => {
    expect(inlined('variables.byLocalWorker && x')).toBe(
      "((has(request.userInfo.username) ? request.userInfo.username : '') in variables.localWorkers) && x",
    );
    expect(inlined('variables.copy')).not.toContain('variables.');
    expect(withIdentities('a in variables.managers || a in variables.localWorkers', IDENTITIES)).toBe(
      'a in ["manager"] || a in ["worker"]',
    );
  });

  test('quotes what stands in it', () => {
    expect(quoted(`it's \\`)).toBe(`'it\\'s \\\\'`);
  });
});
