import { describe, expect, test } from 'vitest';
import type { Admission, AdmissionRequest } from '../../../../../../shared/controlplane/admission/admission-request.ts';
import type { WebhookCall } from '../../../../../../shared/controlplane/admission/webhook/webhook-client.ts';
import { createAdmissionChain, createReinvokingAdmission } from '../../../../../../shared/controlplane/admission/admission-chain.ts';
import { type ClusterNetwork, createWebhookAdmission } from '../../../../../../shared/controlplane/admission/webhook/webhooks.ts';
import { StatusError } from '../../../../../../shared/controlplane/apimachinery/status-error.ts';
import type { AnyObject } from '../../../../../../shared/controlplane/apimachinery/object.ts';
import { omitUndefined } from '../../../../../../shared/runtime/omit-undefined.ts';
import { silentLogger } from '../../../../../../shared/runtime/logger.ts';

type Reply = (review: Review) => object | Error;
type Review = { request: { uid: string; name?: string; object: AnyObject | null; oldObject: AnyObject | null } };

/** Admission with webhooks that answer from here: `replies` by the last part of their URL. */
function anAdmission(
  configurations: { mutating?: AnyObject[]; validating?: AnyObject[] },
  replies: Record<string, Reply>,
  answer?: object | string,
) {
  const calls: { hook: string; review: Review }[] = [];
  let uids = 0;
  const admission = createWebhookAdmission({
    mutatingConfigurations: () => configurations.mutating ?? [],
    validatingConfigurations: () => configurations.validating ?? [],
    namespaceLabels: (name) => (name === 'ns' ? { team: 'a' } : undefined),
    decode: (patched) => ({ ...(patched as AnyObject), defaulted: true }),
    equivalents: ({ resource }) =>
      resource.version === 'v2'
        ? [
            {
              resource: { ...resource, version: 'v1' },
              kind: { group: resource.group, version: 'v1', kind: 'Widget' },
              fromRequest: (object) => ({ ...object, apiVersion: `${resource.group}/v1` }),
              toRequest: (object) => ({ ...object, apiVersion: `${resource.group}/v2` }),
            },
          ]
        : [],
    client: {
      call: async ({ url, body }: WebhookCall) => {
        const hook = url.split('/').at(-1) ?? '';
        const review = JSON.parse(body) as Review;
        calls.push({ hook, review });
        const reply = replies[hook]?.(review) ?? {};
        if (reply instanceof Error) throw reply;
        if (answer !== undefined) return typeof answer === 'string' ? answer : JSON.stringify(answer);
        const response = { uid: review.request.uid, allowed: true, ...reply };
        return JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response });
      },
      close: async () => undefined,
    },
    authorizer: { authorize: () => ({ allowed: false, reason: '' }) },
    newUid: () => `uid-${++uids}`,
    log: silentLogger,
  });
  return { webhooks: admission, admission: createReinvokingAdmission(admission), called: () => calls.map(({ hook }) => hook), calls };
}

const meta = (name: string, labels?: Record<string, string>): AnyObject['metadata'] => ({
  name,
  namespace: 'ns',
  uid: '',
  resourceVersion: '',
  creationTimestamp: '',
  ...omitUndefined({ labels }),
});
const hook = (name: string, more: object = {}): object => ({
  name: `${name}.e.com`,
  clientConfig: { url: `https://h/${name}` },
  rules: [{ operations: ['CREATE', 'UPDATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], scope: '*' }],
  failurePolicy: 'Fail',
  timeoutSeconds: 5,
  admissionReviewVersions: ['v1'],
  ...more,
});
const configuration = (...webhooks: object[]): AnyObject => ({ metadata: meta('c'), webhooks });
const patchOf = (...operations: object[]): object => ({
  patchType: 'JSONPatch',
  patch: Buffer.from(JSON.stringify(operations)).toString('base64'),
});

function aRequest(change: Partial<AdmissionRequest> = {}): AdmissionRequest & { warnings: string[] } {
  const warnings: string[] = [];
  return {
    operation: 'CREATE',
    kind: { group: '', version: 'v1', kind: 'ConfigMap' },
    resource: { group: '', version: 'v1', resource: 'configmaps' },
    subresource: '',
    name: 'a',
    namespace: 'ns',
    object: { metadata: meta('a'), data: {} },
    oldObject: undefined,
    options: { kind: 'CreateOptions', apiVersion: 'meta.k8s.io/v1' },
    dryRun: false,
    user: { name: 'alice', groups: ['devs'] },
    warnings,
    warn: (text) => warnings.push(text),
    ...change,
  };
}
const refusal = async (outcome: Promise<unknown> | undefined): Promise<string> => {
  try {
    await outcome;
  } catch (error) {
    if (error instanceof StatusError) return `${error.code} ${error.message}`;
    throw error;
  }
  return 'none';
};

describe('mutating webhooks', () => {
  test('no webhook for the resource means no waiting at all', () => {
    const { admission } = anAdmission({ mutating: [configuration(hook('m'))] }, {});
    expect(admission.mutate(aRequest({ resource: { group: '', version: 'v1', resource: 'pods' } }))).toBeUndefined();
  });

  test('run one after the other, each on what the one before has made', async () => {
    const { admission, calls } = anAdmission(
      { mutating: [configuration(hook('first'), hook('second'))] },
      {
        first: () => patchOf({ op: 'add', path: '/data/x', value: '1' }),
        second: () => patchOf({ op: 'add', path: '/data/y', value: '2' }),
      },
    );
    const object = await admission.mutate(aRequest());
    expect(object).toMatchObject({ data: { x: '1', y: '2' }, defaulted: true });
    expect(calls[1]?.review.request.object).toMatchObject({ data: { x: '1' } });
  });

  test('with reinvocationPolicy IfNeeded see an object again that a later one has changed, once', async () => {
    const { admission, called } = anAdmission(
      { mutating: [configuration(hook('again', { reinvocationPolicy: 'IfNeeded' }), hook('changes'), hook('never'))] },
      { changes: () => patchOf({ op: 'add', path: '/data/x', value: '1' }) },
    );
    await admission.mutate(aRequest());
    expect(called()).toEqual(['again', 'changes', 'never', 'again']);
  });

  test('a patch that cannot be applied is an internal error', async () => {
    const { admission } = anAdmission({ mutating: [configuration(hook('m'))] }, { m: () => patchOf({ op: 'remove', path: '/data/none' }) });
    expect(await refusal(admission.mutate(aRequest()))).toMatch(/^500 Internal error occurred: /);
  });
});

describe('a webhook that answers something else', () => {
  const answered = async (answer: object | string, more: object = {}): Promise<string> => {
    const { admission } = anAdmission({ mutating: [configuration(hook('m', more))] }, {}, answer);
    return refusal(admission.mutate(aRequest()));
  };
  const failed = '500 Internal error occurred: failed calling webhook "m.e.com": ';
  const review = (response: object): object => ({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response });

  test('cannot be read unless it is an AdmissionReview', async () => {
    const unreadable = `${failed}failed to call webhook: `;
    expect(await answered('no json')).toContain(unreadable);
    expect(await answered({ apiVersion: 'admission.k8s.io/v9', kind: 'AdmissionReview' })).toBe(
      `${unreadable}no kind "AdmissionReview" is registered for version "admission.k8s.io/v9"`,
    );
    expect(await answered(review({ uid: 'uid-1', allowed: 'yes' }))).toContain(unreadable);
    expect(await answered(review({ uid: 'uid-1', allowed: true, patch: '%', patchType: 'JSONPatch' }))).toContain(unreadable);
  });
  test('has said nothing in another version than it was asked in', async () => {
    const absent = `${failed}received invalid webhook response: webhook response was absent`;
    const older = { ...review({ allowed: true }), apiVersion: 'admission.k8s.io/v1beta1' };
    expect(await answered(older)).toBe(absent);
    expect(await answered(review({ allowed: true }), { admissionReviewVersions: ['v1beta1'] })).toBe(absent);
    expect(await answered(older, { admissionReviewVersions: ['v9', 'v1beta1'] })).toBe('none');
  });
  test('may fail with its patch as with any other part of the answer', async () => {
    const patched = (type: string, patch: unknown): object =>
      review({ uid: 'uid-1', allowed: true, patchType: type, patch: Buffer.from(JSON.stringify(patch)).toString('base64') });
    expect(await answered(patched('JSONPatch', {}))).toContain(`${failed}received undecodable patch in webhook response: `);
    expect(await answered(patched('JSONPatch', {}), { failurePolicy: 'Ignore' })).toBe('none');
    expect(await answered(patched('Merge', [{ op: 'add', path: '/data/a', value: '' }]))).toBe(`${failed}unsupported patch type "Merge"`);
    const impossible = patched('JSONPatch', [{ op: 'remove', path: '/data/none' }]);
    expect(await answered(impossible, { failurePolicy: 'Ignore' })).toMatch(/^500 Internal error occurred: /);
  });
});

describe('the second round of mutation', () => {
  test('takes place even when a patch has changed nothing, as upstream compares what it decodes anew', async () => {
    const { admission, called } = anAdmission(
      { mutating: [configuration(hook('again', { reinvocationPolicy: 'IfNeeded' }), hook('same'))] },
      { same: () => patchOf({ op: 'test', path: '/data', value: {} }) },
    );
    await admission.mutate(aRequest());
    expect(called()).toEqual(['again', 'same', 'again']);
  });
  test('asks the plugins of the server as well, and the webhooks again when those have changed something', async () => {
    const { webhooks, called } = anAdmission(
      { mutating: [configuration(hook('changes', { reinvocationPolicy: 'IfNeeded' }))] },
      { changes: ({ request }) => (request.object?.['touched'] === true ? {} : patchOf({ op: 'add', path: '/data/x', value: '1' })) },
    );
    const plugin: Admission = {
      mutate: ({ object }) => {
        if (object !== undefined && 'x' in (object['data'] as object)) object['touched'] = true;
        return undefined;
      },
      validate: () => undefined,
    };
    const object = await createReinvokingAdmission(createAdmissionChain([plugin, webhooks])).mutate(aRequest());
    expect(called()).toEqual(['changes', 'changes']);
    expect(object).toMatchObject({ touched: true, data: { x: '1' } });
  });
});

describe('validating webhooks', () => {
  test('a denial says which webhook and why, with a code of at least 400', async () => {
    const { admission } = anAdmission(
      { validating: [configuration(hook('v'))] },
      { v: () => ({ allowed: false, status: { message: 'because', code: 200 } }) },
    );
    expect(await refusal(admission.validate(aRequest()))).toBe('400 admission webhook "v.e.com" denied the request: because');
  });

  test('warnings come through, also with a denial', async () => {
    const { admission } = anAdmission({ validating: [configuration(hook('v'))] }, { v: () => ({ allowed: false, warnings: ['careful'] }) });
    const request = aRequest();
    expect(await refusal(admission.validate(request))).toBe('400 admission webhook "v.e.com" denied the request without explanation');
    expect(request.warnings).toEqual(['careful']);
  });

  test.each([
    ['Fail', '500 Internal error occurred: failed calling webhook "v.e.com": failed to call webhook: no route'],
    ['Ignore', 'none'],
  ])('that cannot be reached follow failurePolicy %s', async (failurePolicy, expected) => {
    const { admission } = anAdmission({ validating: [configuration(hook('v', { failurePolicy }))] }, { v: () => new Error('no route') });
    expect(await refusal(admission.validate(aRequest()))).toBe(expected);
  });

  test('must answer the question that was asked, and may not patch', async () => {
    const strange = anAdmission({ validating: [configuration(hook('v'))] }, { v: () => ({ uid: 'other' }) });
    expect(await refusal(strange.admission.validate(aRequest()))).toContain(
      'received invalid webhook response: expected response.uid="uid-1", got "other"',
    );
    const patching = anAdmission(
      { validating: [configuration(hook('v'))] },
      { v: () => patchOf({ op: 'add', path: '/data/x', value: '1' }) },
    );
    expect(await refusal(patching.admission.validate(aRequest()))).toContain('validating webhook may not return response.patch');
  });
});

describe('which requests a webhook gets', () => {
  const asked = async (more: object, change: Partial<AdmissionRequest> = {}): Promise<number> => {
    const { admission, called } = anAdmission({ validating: [configuration(hook('v', more))] }, {});
    await admission.validate(aRequest(change));
    return called().length;
  };
  const rule = { operations: ['*'], apiGroups: ['*'], apiVersions: ['*'], resources: ['*'], scope: '*' };

  test('the resource, or its subresource, but not one for the other', async () => {
    expect(await asked({ rules: [rule] }, { subresource: 'status' })).toBe(0);
    expect(await asked({ rules: [{ ...rule, resources: ['configmaps/status'] }] }, { subresource: 'status' })).toBe(1);
    expect(await asked({ rules: [{ ...rule, resources: ['*/*'] }] }, { subresource: 'status' })).toBe(1);
    expect(await asked({ rules: [{ ...rule, resources: ['configmaps/*'] }] })).toBe(1);
  });

  test('by scope, where a Namespace counts as an object of the cluster', async () => {
    expect(await asked({ rules: [{ ...rule, scope: 'Cluster' }] })).toBe(0);
    const namespace = { resource: { group: '', version: 'v1', resource: 'namespaces' }, namespace: 'ns' };
    expect(await asked({ rules: [{ ...rule, scope: 'Cluster' }] }, namespace)).toBe(1);
  });

  test('by labels of the namespace and of the object, old or new', async () => {
    expect(await asked({ namespaceSelector: { matchLabels: { team: 'b' } } })).toBe(0);
    expect(await asked({ namespaceSelector: { matchExpressions: [{ key: 'team', operator: 'In', values: ['a'] }] } })).toBe(1);
    const selected = { objectSelector: { matchLabels: { guard: 'yes' } } };
    expect(await asked(selected)).toBe(0);
    expect(await asked(selected, { oldObject: { metadata: meta('a', { guard: 'yes' }) } })).toBe(1);
  });

  test('by match conditions; one that fails to evaluate refuses the request, unless another one is false', async () => {
    const conditions = (...expressions: string[]): object => ({
      matchConditions: expressions.map((expression, i) => ({ name: `c${i}`, expression })),
    });
    expect(await asked(conditions("request.userInfo.username == 'alice'", 'size(object.data) == 0'))).toBe(1);
    expect(await asked(conditions("request.userInfo.username == 'bob'", 'object.data.none == 1'))).toBe(0);
    const { admission } = anAdmission({ validating: [configuration(hook('v', conditions('object.data.none == 1')))] }, {});
    expect(await refusal(admission.validate(aRequest()))).toBe(
      `403 configmaps "a" is forbidden: expression 'object.data.none == 1' resulted in error: no such key: none`,
    );
  });

  test('never the configuration of admission itself', async () => {
    const resource = { group: 'admissionregistration.k8s.io', version: 'v1', resource: 'validatingwebhookconfigurations' };
    expect(await asked({ rules: [rule] }, { resource })).toBe(0);
  });

  test('in another version of the same resource, converted, unless it asks for exact matches', async () => {
    const v2 = {
      kind: { group: 'e.com', version: 'v2', kind: 'Widget' },
      resource: { group: 'e.com', version: 'v2', resource: 'widgets' },
      object: { apiVersion: 'e.com/v2', kind: 'Widget', metadata: meta('a') },
    };
    const rules = [{ ...rule, apiVersions: ['v1'] }];
    expect(await asked({ matchPolicy: 'Exact', rules }, v2)).toBe(0);
    const { admission, calls } = anAdmission({ validating: [configuration(hook('v', { matchPolicy: 'Equivalent', rules }))] }, {});
    await admission.validate(aRequest(v2));
    expect(calls[0]?.review.request).toMatchObject({
      kind: { version: 'v1' },
      resource: { version: 'v1' },
      requestKind: { version: 'v2' },
      requestResource: { version: 'v2' },
      object: { apiVersion: 'e.com/v1' },
    });
  });
});

test('a webhook behind a Service is reached where the cluster network says, and without one nobody answers there', async () => {
  const asked: (string | undefined)[] = [];
  const throughService = (clusterNetwork?: ClusterNetwork) =>
    createWebhookAdmission({
      mutatingConfigurations: () => [
        configuration(hook('a', { clientConfig: { service: { namespace: 'system', name: 'hook', port: 443, path: '/mutate' } } })),
      ],
      validatingConfigurations: () => [],
      namespaceLabels: () => ({}),
      decode: (patched) => patched as AnyObject,
      equivalents: () => [],
      client: {
        call: async ({ url, connectTo, body }: WebhookCall) => {
          asked.push(`${url} at ${connectTo}`);
          const { uid } = (JSON.parse(body) as Review).request;
          return JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response: { uid, allowed: true } });
        },
        close: async () => undefined,
      },
      ...omitUndefined({ clusterNetwork }),
      authorizer: { authorize: () => ({ allowed: false, reason: '' }) },
      newUid: () => 'uid',
      log: silentLogger,
    });
  await throughService(({ namespace, name, port }) => `127.0.0.1:${namespace.length}${name.length}${port}`).mutate(aRequest());
  expect(asked).toEqual(['https://hook.system.svc:443/mutate at 127.0.0.1:64443']);
  await expect(Promise.resolve(throughService().mutate(aRequest()))).rejects.toThrow(
    /Post "https:\/\/hook\.system\.svc:443\/mutate": service "hook" not found/,
  );
});
