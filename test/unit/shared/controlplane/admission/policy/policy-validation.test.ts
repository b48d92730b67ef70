import { describe, expect, test } from 'vitest';
import { asPolicy, asPolicyBinding } from '../../../../../../shared/controlplane/admission/policy/policy.ts';
import { POLICY_RESOURCES } from '../../../../../../shared/controlplane/admission/policy/policy-kinds.ts';
import {
  validateBinding,
  validatePolicy,
  validatePolicyStatus,
} from '../../../../../../shared/controlplane/admission/policy/policy-validation.ts';
import type { FieldError } from '../../../../../../shared/controlplane/apimachinery/field-error.ts';
import { anObject } from '../../a-served-resource.ts';

const selectors = { matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {} };
const jobs = { operations: ['CREATE'], apiGroups: ['batch'], apiVersions: ['v1'], resources: ['jobs'], scope: '*' };
const aSpec = (parts: object = {}): object => ({
  failurePolicy: 'Fail',
  matchConstraints: { ...selectors, resourceRules: [jobs] },
  validations: [{ expression: 'object.spec.suspend == true' }],
  ...parts,
});
const words = (errors: readonly FieldError[]): string[] => errors.map(({ field, body }) => `${field} | ${body}`);
const found = (spec: object, previous?: object): string[] =>
  words(
    validatePolicy(asPolicy(anObject('p', { spec })), previous === undefined ? undefined : asPolicy(anObject('p', { spec: previous }))),
  );
const foundInBinding = (spec: object): string[] => words(validateBinding(asPolicyBinding(anObject('b', { spec }))));

describe('a policy', () => {
  test.each<[string, object]>([
    ['with one validation', aSpec()],
    ['with audit annotations alone', aSpec({ validations: [], auditAnnotations: [{ key: 'a', valueExpression: '"x"' }] })],
    [
      'whose variables build on one another',
      aSpec({
        variables: [
          { name: 'names', expression: 'object.spec.template.spec.containers.map(c, c.name + "")' },
          { name: 'many', expression: 'variables.names.size() > 1' },
        ],
        validations: [{ expression: '!variables.many', messageExpression: '"not " + variables.names.join(" and ")' }],
      }),
    ],
    [
      'with parameters',
      aSpec({ paramKind: { apiVersion: 'v1', kind: 'ConfigMap' }, validations: [{ expression: 'params.data.x == "1"' }] }),
    ],
    ['that asks the authorizer', aSpec({ matchConditions: [{ name: 'a', expression: 'authorizer.path("/x").check("get").allowed()' }] })],
    ['for some names', aSpec({ matchConstraints: { ...selectors, resourceRules: [{ ...jobs, resourceNames: ['a', 'b'] }] } })],
  ])('is accepted %s', (_, spec) => {
    expect(found(spec)).toEqual([]);
  });

  test('lacks everything when it is empty', () => {
    expect(found({})).toEqual([
      'spec.failurePolicy | Required value',
      'spec.matchConstraints | Required value',
      'spec.validations | Required value: validations or auditAnnotations must contain at least one item',
      'spec.auditAnnotations | Required value: validations or auditAnnotations must contain at least one item',
    ]);
  });

  test.each<[object, string]>([
    [{ failurePolicy: 'Maybe' }, 'failurePolicy | Unsupported value: "Maybe": supported values: "Fail", "Ignore"'],
    [{ matchConstraints: selectors }, 'matchConstraints.resourceRules | Required value'],
    [
      { matchConstraints: { ...selectors, resourceRules: [{ ...jobs, resourceNames: ['a', 'a/b', 'a'] }] } },
      `matchConstraints.resourceRules[0].resourceNames[1] | Invalid value: "a/b": may not contain '/'`,
    ],
    [
      { matchConstraints: { ...selectors, resourceRules: [jobs], excludeResourceRules: [{ ...jobs, operations: ['WATCH'] }] } },
      'matchConstraints.excludeResourceRules[0].operations[0] | Unsupported value: "WATCH": supported values: "*", "CONNECT", "CREATE", "DELETE", "UPDATE"',
    ],
    [{ validations: [{ expression: ' ' }] }, 'validations[0].expression | Required value: expression is not specified'],
    [
      { validations: [{ expression: 'object.metadata.name' }] },
      'validations[0].expression | Invalid value: "object.metadata.name": must evaluate to bool but got dyn',
    ],
    [
      { validations: [{ expression: '[1].map(x, "a")' }] },
      'validations[0].expression | Invalid value: "[1].map(x, \\"a\\")": must evaluate to bool but got list(string)',
    ],
    [
      { validations: [{ expression: 'params == null' }] },
      "validations[0].expression | Invalid value: \"params == null\": compilation failed: ERROR: <input>:1:1: undeclared reference to 'params' (in container '')\n | params == null\n | ^",
    ],
    [
      { validations: [{ expression: 'true', messageExpression: 'authorizer.path("/x").check("get").reason()' }] },
      'validations[0].messageExpression | Invalid value: "authorizer.path(\\"/x\\").check(\\"get\\").reason()": compilation failed: ERROR: <input>:1:1: undeclared reference to \'authorizer\' (in container \'\')\n | authorizer.path("/x").check("get").reason()\n | ^',
    ],
    [
      { validations: [{ expression: 'true', messageExpression: '1' }] },
      'validations[0].messageExpression | Invalid value: "1": must evaluate to string but got int',
    ],
    [
      { validations: [{ expression: 'true', messageExpression: ' ' }] },
      'validations[0].messageExpression | Invalid value: " ": must be non-empty if specified',
    ],
    [
      { validations: [{ expression: 'true', message: ' ' }] },
      'validations[0].message | Invalid value: " ": must be non-empty if specified',
    ],
    [
      { validations: [{ expression: 'true', message: 'a\nb' }] },
      'validations[0].message | Invalid value: "a\\nb": must not contain line breaks',
    ],
    [
      { validations: [{ expression: 'true', reason: 'Because' }] },
      'validations[0].reason | Unsupported value: "Because": supported values: "Forbidden", "Invalid", "RequestEntityTooLarge"',
    ],
    [{ variables: [{ name: '', expression: '1' }] }, 'variables[0].name | Required value: name is not specified'],
    [{ variables: [{ name: 'a-b', expression: '1' }] }, 'variables[0].name | Invalid value: "a-b": must be a valid CEL identifier'],
    [{ variables: [{ name: 'a', expression: '' }] }, 'variables[0].expression | Required value: expression is not specified'],
    [
      { variables: [{ name: 'a', expression: 'variables.b' }] },
      'variables[0].expression | Invalid value: "variables.b": compilation failed: ERROR: <input>:1:10: undefined field \'b\'\n | variables.b\n | .........^',
    ],
    [
      { matchConditions: [{ name: 'a', expression: 'variables.a' }], variables: [{ name: 'a', expression: 'true' }] },
      "matchConditions[0].expression | Invalid value: \"variables.a\": compilation failed: ERROR: <input>:1:1: undeclared reference to 'variables' (in container '')\n | variables.a\n | ^",
    ],
    [
      { auditAnnotations: [{ key: 'a', valueExpression: '1' }] },
      'auditAnnotations[0].valueExpression | Invalid value: "1": must evaluate to one of [string null_type] but got int',
    ],
    [
      { auditAnnotations: [{ key: 'a', valueExpression: '' }] },
      'auditAnnotations[0].valueExpression | Required value: valueExpression is not specified',
    ],
    [
      { auditAnnotations: [{ key: 'a', valueExpression: `"${'x'.repeat(6000)}"` }] },
      'auditAnnotations[0].valueExpression | Required value: must not exceed 5120 bytes in length',
    ],
    [{ auditAnnotations: ['a', 'a'].map((key) => ({ key, valueExpression: '""' })) }, 'auditAnnotations[1].key | Duplicate value: "a"'],
    [{ paramKind: {} }, 'paramKind.apiVersion | Required value'],
    [
      { paramKind: { apiVersion: 'a/b/c', kind: 'K' } },
      'paramKind.apiVersion | Invalid value: "a/b/c": unexpected GroupVersion string: a/b/c',
    ],
    [{ paramKind: { apiVersion: 'batch/', kind: 'Job' } }, 'paramKind.apiVersion | Invalid value: "batch/": version must be specified'],
  ])('is refused with %j', (parts, finding) => {
    expect(found(aSpec(parts))).toContain(`spec.${finding}`);
  });

  test('says of a kind of parameters and of a key what a name must look like', () => {
    expect(found(aSpec({ paramKind: { apiVersion: 'v1', kind: 'a_b' } }))[0]).toMatch(
      /^spec\.paramKind\.kind \| Invalid value: "a_b": may have mixed case, but should otherwise match: a DNS-1035 label must/,
    );
    expect(found(aSpec({ auditAnnotations: [{ key: 'a b', valueExpression: '""' }] }))[0]).toMatch(
      /^spec\.auditAnnotations\[0\]\.key \| Invalid value: "p\/a b": name part must consist of/,
    );
  });

  test('may not have more than twenty audit annotations', () => {
    const auditAnnotations = Array.from({ length: 21 }, (_, i) => ({ key: `k${i}`, valueExpression: '"x"' }));
    expect(found(aSpec({ auditAnnotations })).join()).toMatch(/must not have more than 20 auditAnnotations/);
  });

  test('keeps match conditions that it already has, whatever they are', () => {
    const spec = aSpec({ matchConditions: [{ name: 'a', expression: 'nonsense' }] });
    expect(found(spec)).toHaveLength(1);
    expect(found(spec, spec)).toEqual([]);
  });
});

test('a status says of each warning what and where', () => {
  expect(words(validatePolicyStatus({ typeChecking: { expressionWarnings: [{ fieldRef: ' ', warning: '' }] } }))).toEqual([
    'status.typeChecking.expressionWarnings[0].warning | Required value',
    'status.typeChecking.expressionWarnings[0].fieldRef | Required value',
  ]);
  expect(validatePolicyStatus({ typeChecking: {} })).toEqual([]);
});

describe('a binding', () => {
  const aBinding = (parts: object = {}): object => ({ policyName: 'p', validationActions: ['Deny'], ...parts });

  test('names a policy and what to do', () => {
    expect(foundInBinding(aBinding())).toEqual([]);
    expect(foundInBinding({})).toEqual([
      'spec.policyName | Required value',
      'spec.validationActions | Required value: at least one validation action is required',
    ]);
  });

  test.each<[object, string]>([
    [{ validationActions: ['Deny', 'Deny'] }, 'spec.validationActions[1] | Duplicate value: "Deny"'],
    [{ validationActions: ['Log'] }, 'spec.validationActions[0] | Unsupported value: "Log": supported values: "Audit", "Deny", "Warn"'],
    [{ matchResources: {} }, 'spec.matchResouces.matchPolicy | Required value'],
    [{ paramRef: { parameterNotFoundAction: 'Deny' } }, 'spec.paramRef | Required value: one of name or selector must be specified'],
    [{ paramRef: { name: 'a' } }, 'spec.paramRef.parameterNotFoundAction | Required value'],
    [
      { paramRef: { name: 'a', selector: {}, parameterNotFoundAction: 'Allow' } },
      'spec.paramRef.name | Forbidden: name and selector are mutually exclusive',
    ],
    [
      { paramRef: { name: 'a', parameterNotFoundAction: 'Ask' } },
      'spec.paramRef.parameterNotFoundAction | Unsupported value: "Ask": supported values: "Deny", "Allow"',
    ],
  ])('is refused with %j', (parts, finding) => {
    expect(foundInBinding(aBinding(parts))).toContain(finding);
  });

  test('may not both refuse and warn', () => {
    expect(foundInBinding(aBinding({ validationActions: ['Deny', 'Warn'] })).join()).toMatch(/must not contain both Deny and Warn/);
  });
});

test('policies and bindings are printed as kubectl knows them', () => {
  const cells = (index: number, spec: object): unknown[] | undefined =>
    POLICY_RESOURCES[index]?.strategy.table?.cells(anObject('x', { spec }), Date.parse('2026-01-01T00:01:00Z'));
  expect(cells(0, aSpec())).toEqual(['x', 1, '<unset>', '60s']);
  expect(cells(0, aSpec({ paramKind: { apiVersion: 'v1', kind: 'ConfigMap' } }))?.[2]).toBe('v1/ConfigMap');
  expect(cells(1, { policyName: 'p' })).toEqual(['x', 'p', '<unset>', '60s']);
  expect(cells(1, { policyName: 'p', paramRef: { name: 'n' } })?.[2]).toBe('*/n');
  expect(cells(1, { policyName: 'p', paramRef: { name: 'n', namespace: 'ns' } })?.[2]).toBe('ns/n');
  expect(cells(1, { policyName: 'p', paramRef: { selector: { matchLabels: { a: 'b' } } } })?.[2]).toBe('a=b');
});
