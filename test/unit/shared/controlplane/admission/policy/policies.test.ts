import { beforeEach, describe, expect, test } from 'vitest';
import type { AdmissionRequest } from '../../../../../../shared/controlplane/admission/admission-request.ts';
import { createPolicyAdmission, type PolicyAdmissionDeps } from '../../../../../../shared/controlplane/admission/policy/policies.ts';
import type { ParamObjects } from '../../../../../../shared/controlplane/admission/policy/params.ts';
import type { Equivalent } from '../../../../../../shared/controlplane/admission/request-selection.ts';
import { StatusError } from '../../../../../../shared/controlplane/apimachinery/status-error.ts';
import type { AnyObject } from '../../../../../../shared/controlplane/apimachinery/object.ts';
import { createStore } from '../../../../../../shared/controlplane/storage/store.ts';
import { FakeClock } from '../../../../../support/fake-clock.ts';
import { anObject } from '../../a-served-resource.ts';
import { anAdmissionRequest } from '../webhook/an-admission-request.ts';

const configMaps = { operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps', 'configmaps/*'], scope: '*' };
const match = (parts: object = {}): object => ({
  matchPolicy: 'Equivalent',
  namespaceSelector: {},
  objectSelector: {},
  resourceRules: [configMaps],
  ...parts,
});

let store: ReturnType<typeof createStore>;
let read: string[];
beforeEach(() => {
  store = createStore({ clock: new FakeClock() });
  read = [];
});
const put = (plural: string, name: string, spec: object): void => {
  store.table(plural).put(anObject(name, { spec }, { namespace: '' }));
};
const aPolicy = (name: string, spec: object): void => put('policies', name, { failurePolicy: 'Fail', matchConstraints: match(), ...spec });
const aBinding = (name: string, policyName: string, spec: object = {}): void =>
  put('bindings', name, { policyName, validationActions: ['Deny'], ...spec });
const bound = (spec: object, binding: object = {}): void => {
  aPolicy('p', spec);
  aBinding('b', 'p', binding);
};
const says = (expression: string, more: object = {}): object => ({ validations: [{ expression, ...more }] });

const namespaces: Record<string, AnyObject> = {
  ns: anObject('ns', { status: { phase: 'Active' } }, { labels: { team: 'a' }, managedFields: [] }),
};
const settings: ParamObjects = {
  namespaced: true,
  get: (namespace, name) => (namespace === 'ns' && name === 'limits' ? anObject('limits', { data: { max: '3' } }) : undefined),
  list: (namespace) => (namespace === 'ns' ? ['a', 'b'].map((x) => anObject(x, { data: { max: x } }, { labels: { x } })) : []),
};
const admission = (deps: Partial<PolicyAdmissionDeps> = {}) =>
  createPolicyAdmission({
    policies: () => store.table('policies').list(''),
    bindings: () => store.table('bindings').list(''),
    namespace: (name) => (read.push(name), namespaces[name]),
    params: (_group, _version, kind) =>
      kind === 'Setting' ? settings : kind === 'Global' ? { ...settings, namespaced: false } : undefined,
    equivalents: () => [],
    authorizer: { authorize: (_user, question) => ({ allowed: question.verb === 'bless', reason: '' }) },
    ...deps,
  });
/** What becomes of a request: `admitted`, or the refusal. Warnings come first. */
const outcome = (parts: Partial<AdmissionRequest> = {}, deps?: Partial<PolicyAdmissionDeps>): string => {
  const warnings: string[] = [];
  try {
    const asked = admission(deps).validate(anAdmissionRequest({ ...parts, warn: (text) => warnings.push(text) }));
    return [...warnings, asked === undefined ? 'admitted' : 'waits'].join('; ');
  } catch (error) {
    if (!(error instanceof StatusError)) throw error;
    return [...warnings, `${error.code} ${error.reason} ${error.message}`].join('; ');
  }
};
const refused = (why: string): string =>
  `422 Invalid configmaps "a" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: ${why}`;

describe('a policy', () => {
  test('refuses in the words of a kube-apiserver what fails its validation', () => {
    bound(says('object.data.x == "2"', { message: 'x must be 2' }));
    expect(outcome()).toBe(refused('x must be 2'));
    expect(outcome({ object: anObject('a', { data: { x: '2' } }) })).toBe('admitted');
  });

  test('names the cause once more among the details', () => {
    bound(says('false', { message: 'no' }));
    expect(() => admission().validate(anAdmissionRequest())).toThrow(
      expect.objectContaining({
        details: {
          name: 'a',
          kind: 'configmaps',
          causes: [{ message: "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no" }],
        },
      }),
    );
  });

  test('without a binding does nothing', () => {
    aPolicy('p', says('false'));
    aBinding('b', 'another');
    expect(outcome()).toBe('admitted');
  });

  test.each<[string, object, string]>([
    ['its message', { message: ' as is ' }, 'as is'],
    ['its message expression', { message: 'fixed', messageExpression: '"got " + object.data.x' }, 'got 1'],
    ['its message when the expression fails', { message: 'fixed', messageExpression: 'string(object.data.none)' }, 'fixed'],
    ['its message when the expression has several lines', { message: 'fixed', messageExpression: '"a\\nb"' }, 'fixed'],
    ['its message when the expression is too long', { message: 'fixed', messageExpression: `"${'x'.repeat(6000)}"` }, 'fixed'],
    ['its expression when there is no message', {}, 'failed expression: 1 > 2'],
  ])('says %s', (_, more, words) => {
    bound(says(' 1 > 2 ', more));
    expect(outcome()).toBe(refused(words));
  });

  test.each([
    ['Forbidden', 403],
    ['Unauthorized', 401],
    ['RequestEntityTooLarge', 413],
    ['Invalid', 422],
  ])('refuses with reason %s as %i', (reason, code) => {
    bound(says('false', { reason, message: 'm' }));
    expect(outcome()).toMatch(new RegExp(`^${code} ${reason} configmaps "a" is forbidden: .*: m$`));
  });

  test('that cannot be evaluated refuses, unless failures are ignored', () => {
    const error = `expression 'object.data.y == "1"' resulted in error: no such key: y`;
    bound(says('object.data.y == "1"'));
    expect(outcome()).toBe(refused(error));
    bound({ ...says('object.data.y == "1"'), failurePolicy: 'Ignore' });
    expect(outcome()).toBe('admitted');
  });

  test('that ignores failures still refuses what is wrong', () => {
    bound({ failurePolicy: 'Ignore', validations: [{ expression: 'object.data.y == "1"' }, { expression: 'false', message: 'no' }] });
    expect(outcome()).toBe(refused('no'));
  });

  test('answers with the first refusal, in the order of names', () => {
    for (const name of ['z', 'a']) {
      aPolicy(name, says('false', { message: `by ${name}` }));
      aBinding(`of-${name}`, name);
    }
    expect(outcome()).toMatch(/ValidatingAdmissionPolicy 'a' with binding 'of-a' denied request: by a$/);
  });

  test('is not asked where a match condition is false, and refuses where one has no value', () => {
    bound({ ...says('false', { message: 'no' }), matchConditions: [{ name: 'c', expression: 'request.userInfo.username == "bob"' }] });
    expect(outcome()).toBe('admitted');
    expect(outcome({ user: { name: 'bob', groups: [] } })).toBe(refused('no'));
    bound({ ...says('true'), matchConditions: [{ name: 'c', expression: 'object.nothing == 1' }] });
    expect(outcome()).toBe(refused("expression 'object.nothing == 1' resulted in error: no such key: nothing"));
  });

  test('sees object, old object, request, namespace, authorizer and variables', () => {
    const expressions = [
      'oldObject.data.x == "0" && object.data.x == "1"',
      'request.operation == "UPDATE" && request.options.fieldManager == "me"',
      'namespaceObject.metadata.labels.team == "a" && namespaceObject.status.phase == "Active"',
      '!has(namespaceObject.metadata.annotations)',
      'authorizer.group("").resource("configmaps").check("bless").allowed()',
      '!authorizer.requestResource.check("curse").allowed()',
      'variables.sum == 3 && variables.twice == 6',
    ];
    bound({
      variables: [
        { name: 'sum', expression: '1 + 2' },
        { name: 'twice', expression: 'variables.sum * 2' },
        { name: 'blessed', expression: 'authorizer.requestResource.check("bless").allowed()' },
      ],
      validations: [
        ...expressions.map((expression) => ({ expression })),
        { expression: 'false', messageExpression: 'variables.blessed ? "last" : "unblessed"' },
      ],
    });
    const update: Partial<AdmissionRequest> = {
      operation: 'UPDATE',
      oldObject: anObject('a', { data: { x: '0' } }),
      options: { kind: 'UpdateOptions', apiVersion: 'meta.k8s.io/v1', fieldManager: 'me' },
    };
    expect(outcome(update)).toBe(refused('last'));
  });

  test('computes a variable only where it is needed, and says which one has no value', () => {
    bound({ variables: [{ name: 'v', expression: 'object.data.none' }], validations: [{ expression: 'true || variables.v == 1' }] });
    expect(outcome()).toBe('admitted');
    bound({ variables: [{ name: 'v', expression: 'object.data.none' }], validations: [{ expression: 'variables.v == 1' }] });
    expect(outcome()).toBe(
      refused(`expression 'variables.v == 1' resulted in error: composited variable "v" fails to evaluate: no such key: none`),
    );
  });

  test('sees no namespace with objects that have none', () => {
    bound(says('namespaceObject == null'));
    expect(outcome({ namespace: '' })).toBe('admitted');
    const kind = { kind: { group: '', version: 'v1', kind: 'Namespace' }, resource: { group: '', version: 'v1', resource: 'namespaces' } };
    bound({ ...says('namespaceObject == null'), matchConstraints: match({ resourceRules: [{ ...configMaps, resources: ['*'] }] }) });
    expect(outcome({ ...kind, name: 'n', namespace: 'n' })).toBe('admitted');
  });

  test('sees nothing in place of an object that is deleted', () => {
    bound(says('object == null && oldObject.metadata.name == "a"'));
    expect(outcome({ operation: 'DELETE', object: undefined, oldObject: anObject('a') })).toBe('admitted');
  });

  test('refuses, whatever its actions, what an audit annotation cannot be computed for', () => {
    bound(
      { validations: [], auditAnnotations: [{ key: 'k', valueExpression: '"v" + object.data.none' }] },
      { validationActions: ['Audit'] },
    );
    expect(outcome()).toMatch(/denied request: expression '"v" \+ object\.data\.none' resulted in error: no such key: none$/);
    bound({ validations: [], auditAnnotations: [{ key: 'k', valueExpression: '"v" + object.data.x' }] });
    expect(outcome()).toBe('admitted');
  });

  test('never judges the configuration of admission itself', () => {
    bound({ ...says('false'), matchConstraints: match({ resourceRules: [{ ...configMaps, apiGroups: ['*'], resources: ['*'] }] }) });
    const resource = { group: 'admissionregistration.k8s.io', version: 'v1', resource: 'validatingadmissionpolicies' };
    expect(outcome({ resource, namespace: '' })).toBe('admitted');
  });
});

describe('a binding', () => {
  test('that warns lets through with a warning', () => {
    bound(says('false', { message: 'careful' }), { validationActions: ['Warn', 'Audit'] });
    expect(outcome()).toBe("Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': careful; admitted");
  });

  test('that only audits lets through in silence', () => {
    bound(says('false'), { validationActions: ['Audit'] });
    expect(outcome()).toBe('admitted');
  });

  test('beside another has its own actions', () => {
    aPolicy('p', says('false', { message: 'm' }));
    aBinding('a', 'p', { validationActions: ['Warn'] });
    aBinding('b', 'p');
    expect(outcome()).toBe(`Validation failed for ValidatingAdmissionPolicy 'p' with binding 'a': m; ${refused('m')}`);
  });

  test('narrows its policy', () => {
    bound(says('false', { message: 'no' }), {
      matchResources: match({ resourceRules: [], namespaceSelector: { matchLabels: { team: 'b' } } }),
    });
    expect(outcome()).toBe('admitted');
    bound(says('false', { message: 'no' }), {
      matchResources: match({ resourceRules: [], namespaceSelector: { matchLabels: { team: 'a' } } }),
    });
    expect(outcome()).toBe(refused('no'));
  });
});

describe('what a policy matches', () => {
  const matched = (constraints: object, parts: Partial<AdmissionRequest> = {}, deps?: Partial<PolicyAdmissionDeps>): boolean => {
    bound({ ...says('false'), matchConstraints: match(constraints) });
    return outcome(parts, deps) !== 'admitted';
  };

  test('is told by rules: operations, resources, subresources and names', () => {
    expect(matched({})).toBe(true);
    expect(matched({ resourceRules: [{ ...configMaps, operations: ['DELETE'] }] })).toBe(false);
    expect(matched({ resourceRules: [{ ...configMaps, resources: ['configmaps'] }] }, { subresource: 'status' })).toBe(false);
    expect(matched({ resourceRules: [{ ...configMaps, resources: ['configmaps/status'] }] }, { subresource: 'status' })).toBe(true);
    expect(matched({ resourceRules: [{ ...configMaps, resources: ['*/*'] }] }, { subresource: 'status' })).toBe(true);
    expect(matched({ resourceRules: [{ ...configMaps, resourceNames: ['b'] }] })).toBe(false);
    expect(matched({ resourceRules: [{ ...configMaps, resourceNames: ['b', 'a'] }] })).toBe(true);
  });

  test('leaves out what is excluded', () => {
    expect(matched({ excludeResourceRules: [{ ...configMaps, resourceNames: ['a'] }] })).toBe(false);
    expect(matched({ excludeResourceRules: [{ ...configMaps, resourceNames: ['b'] }] })).toBe(true);
  });

  test('depends on labels of the object, as it was or will be', () => {
    const selected = { objectSelector: { matchLabels: { l: 'x' } } };
    expect(matched(selected)).toBe(false);
    expect(matched(selected, { oldObject: anObject('a', {}, { labels: { l: 'x' } }) })).toBe(true);
  });

  test('is seen in the version of the rule, unless it asks for exactly that one', () => {
    const resource = { group: '', version: 'v2', resource: 'configmaps' };
    const inV1: Equivalent = {
      resource: { ...resource, version: 'v1' },
      kind: { group: '', version: 'v1', kind: 'ConfigMap' },
      fromRequest: (object) => ({ ...object, converted: true }),
      toRequest: (object) => object,
    };
    const deps = { equivalents: () => [inV1] };
    bound(
      says('!(has(object.converted) && request.resource.version == "v1" && request.requestResource.version == "v2")', { message: 'seen' }),
    );
    expect(outcome({ resource }, deps)).toBe(refused('seen'));
    expect(matched({ matchPolicy: 'Exact' }, { resource }, deps)).toBe(false);
  });

  test('in a namespace that is not there is a mistake of the configuration', () => {
    bound({ ...says('true'), matchConstraints: match({ namespaceSelector: { matchLabels: { team: 'a' } } }) });
    expect(outcome({ namespace: 'gone' })).toBe(
      `422 Invalid configmaps "a" is forbidden: ValidatingAdmissionPolicy 'p' denied request: failed to configure policy: namespaces "gone" not found`,
    );
  });
});

describe('parameters', () => {
  const withParams = (paramRef: object | undefined, expression = 'object.data.x == params.data.max', kind = 'Setting'): void =>
    bound(
      { ...says(expression, { messageExpression: '"max is " + params.data.max' }), paramKind: { apiVersion: 'e.com/v1', kind } },
      paramRef === undefined ? {} : { paramRef: { parameterNotFoundAction: 'Deny', ...paramRef } },
    );

  test('are what the binding names, in the namespace of the request', () => {
    withParams({ name: 'limits' });
    expect(outcome()).toBe(refused('max is 3'));
    expect(outcome({ object: anObject('a', { data: { x: '3' } }) })).toBe('admitted');
  });

  test('may be several: the policy is asked with each', () => {
    withParams({ selector: { matchLabels: { x: 'b' } } });
    expect(outcome({ object: anObject('a', { data: { x: 'a' } }) })).toBe(refused('max is b'));
    withParams({ selector: {} });
    expect(outcome({ object: anObject('a', { data: { x: 'b' } }) })).toBe(refused('max is a'));
  });

  test('that are missing refuse or let through, as the binding says', () => {
    withParams({ name: 'none' });
    expect(outcome()).toBe(refused('failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction'));
    withParams({ name: 'none', parameterNotFoundAction: 'Allow' });
    expect(outcome()).toBe('admitted');
  });

  test('are null for a binding that names none', () => {
    withParams(undefined, 'params == null');
    expect(outcome()).toBe('admitted');
  });

  test.each<[string, object, string, Partial<AdmissionRequest>, string]>([
    [
      'of a kind that is not served',
      { name: 'x' },
      'Unheard',
      {},
      "failed to find resource referenced by paramKind: 'e.com/v1, Kind=Unheard'",
    ],
    [
      'in a namespace, of a kind without',
      { name: 'x', namespace: 'ns' },
      'Global',
      {},
      'paramRef.namespace must not be provided for a cluster-scoped `paramKind`',
    ],
    [
      'of no namespace',
      { name: 'x' },
      'Setting',
      { namespace: '' },
      'cannot use namespaced paramRef in policy binding that matches cluster-scoped resources',
    ],
  ])('%s are a mistake of the configuration', (_, paramRef, kind, parts, words) => {
    withParams(paramRef, 'true', kind);
    expect(outcome(parts)).toBe(refused(`failed to configure binding: ${words}`));
  });
});

describe('many policies', () => {
  test('are compiled once a version, however many requests and changes of bindings there are', () => {
    let compiled = 0;
    const spec = {
      failurePolicy: 'Fail',
      matchConstraints: match(),
      get validations() {
        compiled++;
        return [{ expression: 'true' }];
      },
    };
    // Storing reads it, too.
    put('policies', 'p', spec);
    compiled = 0;
    const policies = admission();
    for (let i = 0; i < 5; i++) {
      aBinding(`b-${i}`, 'p');
      for (let j = 0; j < 5; j++) expect(policies.validate(anAdmissionRequest())).toBeUndefined();
    }
    expect(compiled).toBe(1);
  });

  test('about other resources are not looked at, and changes count at once', () => {
    const other = { ...configMaps, resources: ['secrets'] };
    for (let i = 0; i < 50; i++) {
      aPolicy(`other-${i}`, {
        ...says('false'),
        matchConstraints: match({ resourceRules: [other], namespaceSelector: { matchLabels: { team: 'a' } } }),
      });
      aBinding(`other-${i}`, `other-${i}`);
    }
    const policies = admission();
    expect(policies.validate(anAdmissionRequest())).toBeUndefined();
    expect(read).toEqual([]);
    bound(says('false'));
    expect(() => policies.validate(anAdmissionRequest())).toThrow(StatusError);
    const stored = store.table('bindings').get('', 'b');
    if (stored !== undefined) store.table('bindings').remove(stored);
    expect(policies.validate(anAdmissionRequest())).toBeUndefined();
  });
});
