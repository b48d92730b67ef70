import { describe, expect, test } from 'vitest';
import type { AdmissionRequest } from '../../../../../../shared/controlplane/admission/admission-request.ts';
import { admissionEnvironment } from '../../../../../../shared/controlplane/admission/webhook/admission-environment.ts';
import { authorizerValue } from '../../../../../../shared/controlplane/admission/webhook/authorizer-library.ts';
import { compileMatchConditions } from '../../../../../../shared/controlplane/admission/webhook/match-conditions.ts';
import type { AccessQuestion, Authorizer } from '../../../../../../shared/controlplane/auth/authorizer.ts';
import { CelCompileError, compileCel } from '../../../../../../shared/cel/environment.ts';
import { anObject } from '../../a-served-resource.ts';
import { anAdmissionRequest } from './an-admission-request.ts';

const nobodyMay: Authorizer = { authorize: () => ({ allowed: false, reason: 'nobody may' }) };
type Circumstances = { policy?: 'Fail' | 'Ignore'; request?: AdmissionRequest; asked?: AdmissionRequest; authorizer?: Authorizer };
const evaluate = (expressions: readonly string[], circumstances: Circumstances = {}) => {
  const { policy = 'Fail', request = anAdmissionRequest(), authorizer = nobodyMay } = circumstances;
  const conditions = expressions.map((expression, n) => ({ name: `c${n}`, expression }));
  return compileMatchConditions(conditions, policy).evaluate(request, circumstances.asked ?? request, authorizer);
};
const matches = (expression: string, request?: Partial<AdmissionRequest>): boolean =>
  evaluate([expression], { request: anAdmissionRequest(request) }).matches;

describe('match conditions', () => {
  test('match where there are none, and where all hold', () => {
    expect(evaluate([])).toEqual({ matches: true });
    expect(evaluate(['true', ' object.metadata.name == "a" '])).toEqual({ matches: true });
  });

  test('do not match where one is false, whatever happens to the others', () => {
    expect(evaluate(['object.nothing == 1', 'false'])).toEqual({ matches: false });
  });

  test('that cannot be evaluated are an error, unless failures are ignored', () => {
    const { matches: matched, error } = evaluate(['true', 'object.nothing == 1']);
    expect(matched).toBe(false);
    expect(error).toMatch(/^expression 'object\.nothing == 1' resulted in error: /);
    expect(evaluate(['object.nothing == 1'], { policy: 'Ignore' })).toEqual({ matches: false });
  });

  test('tell of several errors together, and of equal ones once', () => {
    expect(evaluate(['object.x == 1', 'object.y == 1', 'object.x == 1']).error).toMatch(
      /^\[expression 'object\.x.*, expression 'object\.y[^[]*\]$/,
    );
  });

  test.each<[string, Partial<AdmissionRequest>]>([
    ['object.data.x == "1" && oldObject == null', {}],
    ['object == null && oldObject.metadata.name == "a"', { operation: 'DELETE', object: undefined, oldObject: anObject('a') }],
    ['request.operation == "UPDATE" && request.dryRun', { operation: 'UPDATE', dryRun: true }],
    ['request.kind.kind == "ConfigMap" && request.resource.resource == "configmaps" && request.requestKind == request.kind', {}],
    ['request.subResource == "status" && request.requestSubResource == "status"', { subresource: 'status' }],
    ['request.name == "a" && request.namespace == "ns"', {}],
    ['request.userInfo.username == "alice" && "devs" in request.userInfo.groups', {}],
    ['!has(request.subResource) && !has(request.userInfo.uid) && !has(request.userInfo.extra)', {}],
    ['!has(request.name) && !has(request.namespace)', { name: '', namespace: '' }],
    ['namespaceObject == null', {}],
    ['request.userInfo.extra["scopes"][0] == "x"', { user: { name: 'alice', groups: [], extra: { scopes: ['x'] } } }],
    ['request.options.kind == "CreateOptions"', {}],
  ])('may speak about the request: %s', (expression, request) => {
    expect(matches(expression, request)).toBe(true);
  });

  test('find what is empty in a request absent, as in an AdmissionReview', () => {
    expect(evaluate(['request.subResource == ""']).error).toBe(
      `expression 'request.subResource == ""' resulted in error: no such key: subResource`,
    );
  });

  test('may not speak about anything else', () => {
    for (const expression of ['variables.x == "x"', 'params == null', 'authorizer.nothing()', 'request.subresource == "status"'])
      expect(() => compileCel(admissionEnvironment, expression)).toThrow(CelCompileError);
  });
});

describe('the authorizer', () => {
  /** What is asked by an expression, by an authorizer that allows everything. */
  const asked = (expression: string, request = anAdmissionRequest()) => {
    const questions: { user: string; question: AccessQuestion }[] = [];
    const authorizer: Authorizer = {
      authorize: (user, question) => (questions.push({ user: user.name, question }), { allowed: true, reason: 'because' }),
    };
    const { value, error } = compileCel(admissionEnvironment, expression).run({ authorizer: authorizerValue(authorizer, request) });
    return { value, error, questions };
  };

  test('asks whether the user of the request may do something to a resource', () => {
    const { value, questions } = asked(
      "authorizer.group('apps').resource('deployments').subresource('scale').namespace('other').name('web').check('update').allowed()",
    );
    expect(value).toBe(true);
    expect(questions).toEqual([
      {
        user: 'alice',
        question: {
          kind: 'resource',
          verb: 'update',
          version: '*',
          group: 'apps',
          resource: 'deployments',
          subresource: 'scale',
          namespace: 'other',
          name: 'web',
        },
      },
    ]);
  });

  test('asks for everything that is not narrowed', () => {
    expect(asked("authorizer.group('').resource('pods').check('list').allowed()").questions[0]?.question).toMatchObject({
      subresource: '',
      namespace: '',
      name: '',
    });
  });

  test('asks about paths, and about what the request is about', () => {
    expect(asked("authorizer.path('/healthz').check('get').allowed()").questions[0]?.question).toEqual({
      kind: 'path',
      verb: 'get',
      path: '/healthz',
    });
    expect(asked("authorizer.requestResource.check('approve').allowed()").questions[0]?.question).toEqual({
      kind: 'resource',
      verb: 'approve',
      version: '*',
      group: '',
      resource: 'configmaps',
      subresource: '',
      namespace: 'ns',
      name: 'a',
    });
  });

  test('tells why, and decides conditions', () => {
    expect(asked("authorizer.path('/x').check('get').reason()").value).toBe('because');
    expect(evaluate(["authorizer.requestResource.check('create').allowed()"])).toEqual({ matches: false });
  });
});
