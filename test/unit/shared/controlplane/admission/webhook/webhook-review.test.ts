import { describe, expect, test } from 'vitest';
import { refusal, type AdmissionRequest } from '../../../../../../shared/controlplane/admission/admission-request.ts';
import { applyReviewPatch, readReviewPatch } from '../../../../../../shared/controlplane/admission/webhook/webhook-patch.ts';
import {
  denial,
  readReview,
  UnreadableReview,
  writeReview,
} from '../../../../../../shared/controlplane/admission/webhook/webhook-review.ts';
import {
  isExemptFromWebhooks,
  isNamespaceObject,
  ruleCovers,
  type WebhookRule,
} from '../../../../../../shared/controlplane/admission/webhook/webhook-rules.ts';
import { anObject } from '../../a-served-resource.ts';
import { anAdmissionRequest } from './an-admission-request.ts';

const base64 = (text: string): string => Buffer.from(text).toString('base64');

describe('the review that is sent', () => {
  const request = anAdmissionRequest();
  const sent = (parts: Partial<AdmissionRequest> = {}, asked = request) =>
    (writeReview(anAdmissionRequest(parts), asked, 'u1', 'v1') as { request: Record<string, unknown> }).request;

  test('is of the version that the webhook knows', () => {
    expect(writeReview(request, request, 'u1', 'v1beta1')).toMatchObject({
      kind: 'AdmissionReview',
      apiVersion: 'admission.k8s.io/v1beta1',
      request: { uid: 'u1' },
    });
  });

  test('tells both what was asked and what it was turned into', () => {
    const asked = anAdmissionRequest({
      kind: { group: '', version: 'v2', kind: 'ConfigMap' },
      resource: { group: '', version: 'v2', resource: 'configmaps' },
    });
    expect(sent({}, asked)).toMatchObject({
      kind: request.kind,
      resource: request.resource,
      requestKind: { version: 'v2' },
      requestResource: { version: 'v2' },
    });
  });

  test('leaves out what is empty, but for the objects', () => {
    expect(
      Object.keys(sent({ name: '', namespace: '', object: undefined, user: { name: 'alice', groups: [], uid: '', extra: {} } })),
    ).toEqual([
      'uid',
      'kind',
      'resource',
      'requestKind',
      'requestResource',
      'operation',
      'userInfo',
      'object',
      'oldObject',
      'dryRun',
      'options',
    ]);
    expect(sent({ object: undefined })).toMatchObject({ object: null, oldObject: null });
    expect(sent({ user: { name: 'alice', groups: [], uid: '', extra: {} } })['userInfo']).toEqual({ username: 'alice' });
    expect(sent({ subresource: 'status' })).toMatchObject({ subResource: 'status', requestSubResource: 'status' });
  });
});

describe('the review that comes back', () => {
  const review = (response: unknown, parts: object = {}) =>
    JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response, ...parts });
  const read = (response: object, mutating = true) => readReview(review({ uid: 'u1', ...response }), 'u1', mutating, 'v1');
  const patch = { patch: base64('[]'), patchType: 'JSONPatch' };

  test('allows only where it says so', () => {
    expect([read({ allowed: true }).allowed, read({ allowed: false }).allowed, read({}).allowed]).toEqual([true, false, false]);
  });

  test('carries a patch, a status and warnings', () => {
    expect(read({ allowed: true, ...patch, status: { message: 'm' }, warnings: ['a', 'b'] })).toEqual({
      allowed: true,
      patch: { type: 'JSONPatch', text: '[]' },
      status: { message: 'm' },
      warnings: ['a', 'b'],
    });
    expect(read({ allowed: false })).toEqual({ allowed: false, warnings: [] });
  });

  test.each<[string, string]>([
    [review(undefined), 'webhook response was absent'],
    [review({ uid: 'u1' }, { apiVersion: 'admission.k8s.io/v1beta1' }), 'webhook response was absent'],
    [JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Success' }), 'webhook response was absent'],
    [review({ uid: 'other' }), 'expected response.uid="u1", got "other"'],
    [review({}), 'expected response.uid="u1", got ""'],
    [review({ uid: 'u1', patch: base64('[]') }), 'webhook returned response.patch but not response.patchType'],
    [review({ uid: 'u1', patchType: 'JSONPatch' }), 'webhook returned response.patchType but not response.patch'],
    [review({ uid: 'u1', ...patch, patchType: '' }), 'webhook returned invalid response.patchType of ""'],
    [
      review({ uid: 'u1' }, { kind: '' }),
      'expected webhook response of admission.k8s.io/v1, Kind=AdmissionReview, got admission.k8s.io/v1, Kind=',
    ],
  ])('is refused: %s', (body, why) => {
    expect(() => readReview(body, 'u1', true, 'v1')).toThrow(why);
  });

  test.each([
    '{',
    '[]',
    'null',
    review({ uid: 'u1' }, { kind: 'Pod' }),
    review({ uid: 'u1' }, { apiVersion: 'v1' }),
    review({ uid: 5 }),
    review({ uid: 'u1', allowed: 'true' }),
    review({ uid: 'u1', patch: 'a$' }),
    JSON.stringify({ kind: 'Status', apiVersion: 'v1', status: 'Failure', message: 'no' }),
  ])('is as good as none: %s', (body) => {
    expect(() => readReview(body, 'u1', true, 'v1')).toThrow(UnreadableReview);
  });

  test('of a validating webhook has no patch', () => {
    expect(() => read(patch, false)).toThrow('validating webhook may not return response.patch');
    expect(() => read({ patchType: 'JSONPatch' }, false)).toThrow('validating webhook may not return response.patchType');
    expect(read({ allowed: true }, false).allowed).toBe(true);
  });

  test('of the old version is not checked so closely', () => {
    const old = review({ allowed: true, patch: base64('[]') }, { apiVersion: 'admission.k8s.io/v1beta1' });
    expect(readReview(old, 'u1', true, 'v1beta1')).toMatchObject({ allowed: true, patch: { type: 'JSONPatch', text: '[]' } });
  });
});

describe('a denial', () => {
  test.each<[Parameters<typeof denial>[1], number, string, string]>([
    [undefined, 400, '', 'admission webhook "w" denied the request without explanation'],
    [{ code: 403, message: 'no' }, 403, '', 'admission webhook "w" denied the request: no'],
    [{ code: 200, reason: 'Because' }, 400, 'Because', 'admission webhook "w" denied the request: Because'],
    [{ code: 418, reason: 'Because', message: 'no' }, 418, 'Because', 'admission webhook "w" denied the request: no'],
  ])('with %j answers %i', (status, code, reason, message) => {
    expect(denial('w', status)).toMatchObject({ code, reason, message });
  });
});

describe('the patch of a review', () => {
  const object = anObject('a', { data: { x: '1' } });
  const read = (text: string, type = 'JSONPatch') => readReviewPatch({ type, text });
  const apply = (text: string, target: typeof object | undefined = object) => applyReviewPatch('w', read(text), target);

  test('is applied to a copy', () => {
    expect(apply('[{"op":"add","path":"/data/y","value":"2"}]')).toMatchObject({ data: { x: '1', y: '2' } });
    expect(object['data']).toEqual({ x: '1' });
  });
  test('may have no operations, of whatever type', () => {
    expect([read('[]', 'Other'), read('null')]).toEqual([[], []]);
  });
  test.each([
    [
      '{}',
      'JSONPatch',
      'received undecodable patch in webhook response: json: cannot unmarshal object into Go value of type jsonpatch.Patch',
    ],
    ['[', 'JSONPatch', 'received undecodable patch in webhook response: '],
    ['[{"op":"remove","path":"/data"}]', 'Other', 'unsupported patch type "Other"'],
  ])('%s of type %s is a failure of the webhook', (text, type, why) => {
    expect(() => read(text, type)).toThrow(why);
  });
  test('that does not fit the object is the server’s error', () => {
    expect(() => apply('[{"op":"remove","path":"/nothing"}]')).toThrow(expect.objectContaining({ code: 500, reason: 'InternalError' }));
  });
  test('is applied to nothing only by mistake', () => {
    expect(() => applyReviewPatch('w', read('[{"op":"remove","path":"/data"}]'), undefined)).toThrow(
      /admission webhook "w" attempted to modify the object, which is not supported for this operation$/,
    );
  });
});

test('a plugin refuses under the name that the object has, or will have, or has not', () => {
  const messageFor = (parts: Partial<AdmissionRequest>) => refusal(anAdmissionRequest(parts), 'no').message;
  expect(messageFor({})).toBe('configmaps "a" is forbidden: no');
  expect(messageFor({ name: '', object: anObject('b') })).toBe('configmaps "b" is forbidden: no');
  expect(messageFor({ name: '', object: anObject('', {}, { generateName: 'c-' }) })).toBe('configmaps "c-" is forbidden: no');
  expect(messageFor({ name: '', object: undefined })).toBe('configmaps "Unknown" is forbidden: no');
});

describe('a rule', () => {
  const everything: WebhookRule = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*/*'], scope: '*' };
  const covers = (rule: Partial<WebhookRule>, request: Partial<AdmissionRequest> = {}) =>
    ruleCovers({ ...everything, ...rule }, anAdmissionRequest(request));
  const status = { subresource: 'status' };
  const namespaces = { resource: { group: '', version: 'v1', resource: 'namespaces' } };

  test.each<[Partial<WebhookRule>, Partial<AdmissionRequest>, boolean]>([
    [{}, {}, true],
    [{ operations: ['UPDATE'] }, {}, false],
    [{ operations: ['UPDATE', 'CREATE'] }, {}, true],
    [{ operations: [] }, {}, false],
    [{ apiGroups: ['apps'] }, {}, false],
    [{ apiGroups: [''] }, {}, true],
    [{ apiVersions: ['v2'] }, {}, false],
    [{ resources: [] }, {}, false],
    [{ resources: ['*'] }, {}, true],
    [{ resources: ['*'] }, status, false],
    [{ resources: ['*/*'] }, status, true],
    [{ resources: ['configmaps'] }, status, false],
    [{ resources: ['configmaps/*'] }, status, true],
    [{ resources: ['configmaps/*'] }, {}, true],
    [{ resources: ['configmaps/status'] }, status, true],
    [{ resources: ['*/status'] }, {}, false],
    [{ resources: ['pods', 'configmaps'] }, {}, true],
    [{ scope: 'Namespaced' }, {}, true],
    [{ scope: 'Cluster' }, {}, false],
    [{ scope: 'Cluster' }, { namespace: '' }, true],
    [{ scope: 'Cluster' }, namespaces, true],
    [{ scope: 'Namespaced' }, namespaces, false],
    [{ scope: 'Elsewhere' }, {}, false],
  ])('%j for %j: %s', (rule, request, covered) => {
    expect(covers(rule, request)).toBe(covered);
  });

  test('without a scope covers everything, and without anything else nothing', () => {
    const { scope: _scope, ...unscoped } = everything;
    expect([ruleCovers(unscoped, anAdmissionRequest()), ruleCovers({}, anAdmissionRequest())]).toEqual([true, false]);
  });

  test('is about the core group’s namespaces alone where it is about namespaces', () => {
    expect(isNamespaceObject(anAdmissionRequest(namespaces))).toBe(true);
    expect(isNamespaceObject(anAdmissionRequest({ resource: { ...namespaces.resource, group: 'example.com' } }))).toBe(false);
  });

  test.each<[string, string, boolean]>([
    ['admissionregistration.k8s.io', 'validatingwebhookconfigurations', true],
    ['admissionregistration.k8s.io', 'mutatingadmissionpolicybindings', true],
    ['admissionregistration.k8s.io', 'others', false],
    ['example.com', 'validatingwebhookconfigurations', false],
  ])('does not hold for what configures admission: %s %s', (group, resource, exempt) => {
    expect(isExemptFromWebhooks(anAdmissionRequest({ resource: { group, version: 'v1', resource } }))).toBe(exempt);
  });
});
