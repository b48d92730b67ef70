import { describe, expect, test } from 'vitest';
import { compilePolicy } from '../../../../../../shared/controlplane/admission/policy/compiled-policy.ts';
import { namespaceVariable } from '../../../../../../shared/controlplane/admission/policy/namespace-variable.ts';
import { paramsOf, type ParamObjects } from '../../../../../../shared/controlplane/admission/policy/params.ts';
import { lazyVariables, policyEnvironments } from '../../../../../../shared/controlplane/admission/policy/policy-environments.ts';
import { CelCompileError, compileCel } from '../../../../../../shared/controlplane/cel/environment.ts';
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
