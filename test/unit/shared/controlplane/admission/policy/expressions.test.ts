import { describe, expect, test } from 'vitest';
import { compilePolicy } from '../../../../../../shared/controlplane/admission/policy/compiled-policy.ts';
import { namespaceVariable } from '../../../../../../shared/controlplane/admission/policy/namespace-variable.ts';
import { paramsOf, type ParamObjects } from '../../../../../../shared/controlplane/admission/policy/params.ts';
import { lazyVariables, policyEnvironments } from '../../../../../../shared/controlplane/admission/policy/policy-environments.ts';
import { CelCompileError, compileCel } from '../../../../../../shared/cel/environment.ts';
import { anObject } from '../../a-served-resource.ts';

describe('the environments of a policy', () => {
  test('know a variable once it is declared, by its type', () => {
    const environments = policyEnvironments(false);
    expect(() => compileCel(environments.expressions(), 'variables.n + 1')).toThrow(CelCompileError);
    environments.declare('n', 'int');
    expect(compileCel(environments.expressions(), 'variables.n + 1').type).toBe('int');
    expect(compileCel(environments.messages(), 'string(variables.n)').type).toBe('string');
    expect(() => compileCel(environments.expressions(), 'variables.n + "x"')).toThrow(CelCompileError);
    expect(() => compileCel(environments.matchConditions, 'variables.n == 1')).toThrow(CelCompileError);
  });

  test('do not tell one policy of the variables of another', () => {
    policyEnvironments(true).declare('n', 'int');
    expect(() => compileCel(policyEnvironments(true).expressions(), 'variables.n')).toThrow(CelCompileError);
  });

  test('have parameters where the policy names their kind', () => {
    expect(compileCel(policyEnvironments(true).expressions(), 'params.x == 1').type).toBe('bool');
    expect(() => compileCel(policyEnvironments(false).expressions(), 'params.x == 1')).toThrow(CelCompileError);
  });
});

test('a variable is computed once, its failure as well', () => {
  const environments = policyEnvironments(false);
  const program = compileCel(environments.expressions(), 'object.x');
  let reads = 0;
  const object = {
    get x(): bigint {
      reads++;
      return 1n;
    },
  };
  const variables = lazyVariables(
    [
      { name: 'good', program },
      { name: 'bad', program: compileCel(environments.expressions(), 'object.none') },
    ],
    () => ({ object }),
  ) as { good: unknown; bad: unknown };
  expect([variables.good, variables.good, reads]).toEqual([1n, 1n, 1]);
  for (let i = 0; i < 2; i++) expect(() => variables.bad).toThrow('composited variable "bad" fails to evaluate: no such key: none');
});

test('a compiled policy tells everything that it refuses', () => {
  const policy = compilePolicy({
    matchConditions: [{ name: 'c', expression: 'object.on' }],
    validations: [{ expression: 'object.a', message: 'a' }, { expression: 'object.b', reason: 'Forbidden' }, { expression: 'object.on' }],
    auditAnnotations: [{ key: 'k', valueExpression: ' string(object.none) ' }],
  });
  expect(policy.refusals({ object: { on: true, a: false, b: false } })).toEqual({
    refusals: [
      { message: 'a', reason: 'Invalid' },
      { message: 'failed expression: object.b', reason: 'Forbidden' },
    ],
    denials: [{ message: "expression 'string(object.none)' resulted in error: no such key: none", reason: '' }],
  });
  expect(policy.refusals({ object: { on: false } })).toEqual({ refusals: [], denials: [] });
});

test('a namespace is shown without what concerns nobody', () => {
  const namespace = anObject('ns', { spec: { finalizers: ['kubernetes'] } }, { managedFields: [], ownerReferences: [], generation: 2 });
  expect(namespaceVariable(namespace)).toMatchObject({
    metadata: { name: 'ns', generation: 2n },
    spec: { finalizers: ['kubernetes'] },
    status: {},
  });
  expect(Object.keys((namespaceVariable(namespace) as { metadata: object }).metadata)).not.toContain('managedFields');
});

describe('parameters', () => {
  const objects: ParamObjects = {
    namespaced: true,
    get: (namespace, name) => (name === 'there' ? anObject(`${namespace}-${name}`) : undefined),
    list: (namespace) => [anObject(namespace, {}, { labels: { a: 'b' } }), anObject('other')],
  };
  const names = (paramRef: object | undefined): unknown[] =>
    paramsOf({ apiVersion: 'e.com/v1', kind: 'K' }, paramRef, 'mine', (...kind) =>
      kind.join() === 'e.com,v1,K' ? objects : undefined,
    ).map((each) => each?.metadata.name);

  test('come from the namespace that the binding names, or from that of the request', () => {
    expect(names({ name: 'there' })).toEqual(['mine-there']);
    expect(names({ name: 'there', namespace: 'theirs' })).toEqual(['theirs-there']);
    expect(names({ selector: { matchLabels: { a: 'b' } } })).toEqual(['mine']);
    expect(names({ name: 'none', parameterNotFoundAction: 'Allow' })).toEqual([]);
  });

  test('are none at all for a policy or binding without', () => {
    expect(names(undefined)).toEqual([undefined]);
    expect(paramsOf(undefined, { name: 'there' }, 'mine', () => undefined)).toEqual([null]);
  });
});

describe('what evaluations of a policy may cost', () => {
  /** About 700,000 units: less than one evaluation may cost, and more than a few together. */
  const DEAR = 'object.many.all(x, object.many.all(y, x + y >= 0))';
  const many = Array.from({ length: 320 }, (_, i) => BigInt(i));
  const OUT_OF_BUDGET = 'validation failed due to running out of cost budget, no further validation rules will be run';
  const times = <Each>(count: number, each: Each): Each[] => Array.from({ length: count }, () => each);
  const refusals = (spec: Parameters<typeof compilePolicy>[0]): string[] =>
    compilePolicy(spec)
      .refusals({ object: { many, on: true } })
      .refusals.map(({ message }) => message);

  test('is ten million units for the validations together, and what was found before is no longer said', () => {
    const dear = (count: number) => [{ expression: '!object.on', message: 'off' }, ...times(count, { expression: DEAR })];
    expect(refusals({ validations: dear(13) })).toEqual(['off']);
    expect(refusals({ validations: dear(15) })).toEqual([OUT_OF_BUDGET]);
    expect(refusals({ failurePolicy: 'Ignore', validations: dear(15) })).toEqual([]);
  });

  test('includes variables, each once', () => {
    const variables = times(15, DEAR).map((expression, i) => ({ name: `v${i}`, expression }));
    const reads = (count: number) => ({
      variables,
      validations: variables.slice(0, count).map(({ name }) => ({ expression: `variables.${name}` })),
    });
    expect(refusals(reads(13))).toEqual([]);
    expect(refusals(reads(15))).toEqual([OUT_OF_BUDGET]);
    expect(refusals({ variables, validations: times(15, { expression: 'variables.v0' }) })).toEqual([]);
  });

  test('is less for a single evaluation', () => {
    const expression = `${DEAR} && ${DEAR}`;
    expect(refusals({ validations: [{ expression }] })).toEqual([
      `expression '${expression}' resulted in error: operation cancelled: actual cost limit exceeded`,
    ]);
    expect(refusals({ failurePolicy: 'Ignore', validations: [{ expression }] })).toEqual([]);
  });

  test('is left over by the validations for messages, which are all computed', () => {
    const validations = [
      { expression: '!object.on', message: 'off' },
      { expression: 'object.on', messageExpression: `${DEAR} ? 'a' : 'b'` },
      ...times(13, { expression: DEAR }),
    ];
    expect(new Set(refusals({ validations }))).toEqual(new Set([`failed messageExpression: ${OUT_OF_BUDGET}`]));
    expect(refusals({ validations: validations.slice(0, 13) })).toEqual(['off']);
  });

  test('is as much again for audit annotations', () => {
    const annotations = (count: number) => times(count, { key: 'k', valueExpression: `${DEAR} ? 'a' : 'b'` });
    const validations = [{ expression: '!object.on', message: 'off' }, ...times(13, { expression: DEAR })];
    expect(refusals({ validations, auditAnnotations: annotations(13) })).toEqual(['off']);
    expect(refusals({ validations, auditAnnotations: annotations(15) })).toEqual([OUT_OF_BUDGET]);
  });

  test('is two and a half million units for match conditions, all of which are evaluated', () => {
    const conditions = (count: number) => ['!object.on', ...times(count, DEAR)].map((expression, i) => ({ name: `c${i}`, expression }));
    const validations = [{ expression: 'false', message: 'no' }];
    expect(refusals({ matchConditions: conditions(3), validations })).toEqual([]);
    expect(refusals({ matchConditions: conditions(4), validations })).toEqual([OUT_OF_BUDGET]);
    expect(refusals({ failurePolicy: 'Ignore', matchConditions: conditions(4), validations })).toEqual([]);
  });
});
