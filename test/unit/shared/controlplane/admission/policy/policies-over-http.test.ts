import { afterEach, beforeEach, expect, onTestFinished, test } from 'vitest';
import { startHookServer } from '../../../../../conformance/support/hook-server.ts';
import { aControlPlane, type Bench, CONFIG_MAPS, configMap, JOBS, MERGE } from '../../a-control-plane.ts';

let bench: Bench;
beforeEach(async () => {
  bench = await aControlPlane();
});
afterEach(() => bench.plane.close());

const GROUP = '/apis/admissionregistration.k8s.io/v1';
const POLICIES = `${GROUP}/validatingadmissionpolicies`;
const BINDINGS = `${GROUP}/validatingadmissionpolicybindings`;
const APPLY = { 'content-type': 'application/apply-patch+yaml' };

const aPolicy = (spec: object): object => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicy',
  metadata: { name: 'p' },
  spec,
});
const aBinding = (validationActions: readonly string[]): object => ({
  apiVersion: 'admissionregistration.k8s.io/v1',
  kind: 'ValidatingAdmissionPolicyBinding',
  metadata: { name: 'b' },
  spec: { policyName: 'p', validationActions },
});
const rule = (apiGroup: string, ...resources: string[]): object => ({
  resourceRules: [{ apiGroups: [apiGroup], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE', 'DELETE'], resources }],
});
const enact = async (spec: object, actions = ['Deny']): Promise<void> => {
  for (const [path, body] of [
    [POLICIES, aPolicy(spec)],
    [BINDINGS, aBinding(actions)],
  ] as const) {
    const { status, text } = await bench.call('POST', path, body);
    expect(status, text).toBe(201);
  }
};
const job = (name: string): object => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name },
  spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image: 'i' }] } } },
});

test('a policy is stored with its defaults, and its generation counts changes of the spec', async () => {
  const created = await bench.call(
    'POST',
    POLICIES,
    aPolicy({ matchConstraints: rule('', 'configmaps'), validations: [{ expression: 'true' }] }),
  );
  expect(created.body).toMatchObject({
    metadata: { generation: 1 },
    spec: {
      failurePolicy: 'Fail',
      matchConstraints: { matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector: {}, resourceRules: [{ scope: '*' }] },
      validations: [{ expression: 'true' }],
    },
    status: {},
  });
  const changed = await bench.call('PATCH', `${POLICIES}/p`, { spec: { validations: [{ expression: '1 < 2' }] } }, MERGE);
  expect(changed.body).toMatchObject({ metadata: { generation: 2 } });
  const status = await bench.call(
    'PATCH',
    `${POLICIES}/p/status`,
    { spec: { validations: [] }, status: { observedGeneration: 2, typeChecking: {} } },
    MERGE,
  );
  expect(status.body).toMatchObject({
    metadata: { generation: 2 },
    spec: { validations: [{}] },
    status: { observedGeneration: 2, typeChecking: {} },
  });
  const { spec, status: _, ...rest } = changed.body;
  const { status: put, text } = await bench.call('PUT', `${POLICIES}/p`, { ...rest, spec });
  expect(put, text).toBe(409);
});

test('a policy whose expression does not compile is Invalid, and says where', async () => {
  const { body } = await bench.call(
    'POST',
    POLICIES,
    aPolicy({ matchConstraints: rule('', 'configmaps'), validations: [{ expression: 'object.spec.' }] }),
  );
  expect(body).toMatchObject({
    code: 422,
    reason: 'Invalid',
    message: expect.stringMatching(
      /^ValidatingAdmissionPolicy\.admissionregistration\.k8s\.io "p" is invalid: spec\.validations\[0\]\.expression: Invalid value: "object\.spec\.": compilation failed: /,
    ),
  });
});

test('variables and match conditions of a policy are applied by name', async () => {
  const apply = (manager: string, spec: object) => bench.call('PATCH', `${POLICIES}/p?fieldManager=${manager}`, aPolicy(spec), APPLY);
  const variables = (name: string): object => ({ variables: [{ name, expression: '1' }] });
  await apply('one', { matchConstraints: rule('', 'configmaps'), validations: [{ expression: 'true' }], ...variables('a') });
  expect((await apply('two', variables('b'))).body).toMatchObject({ spec: { variables: [{ name: 'a' }, { name: 'b' }] } });
});

test('discovery and OpenAPI know the kinds', async () => {
  expect((await bench.call('GET', GROUP)).text).toContain('"name":"validatingadmissionpolicies/status"');
  expect((await bench.call('GET', '/openapi/v3/apis/admissionregistration.k8s.io/v1')).text).toContain('ValidatingAdmissionPolicyBinding');
});

test('what a policy denies is refused with 422, also on a dry run, and what it only warns of comes with a warning', async () => {
  await enact({ matchConstraints: rule('', 'configmaps'), validations: [{ expression: '!has(object.data)', message: 'no data, please' }] });
  for (const query of ['', '?dryRun=All']) {
    expect((await bench.call('POST', `${CONFIG_MAPS}${query}`, configMap('a', { data: { x: '1' } }))).body).toMatchObject({
      code: 422,
      message: `configmaps "a" is forbidden: ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no data, please`,
    });
  }
  await bench.call('PATCH', `${BINDINGS}/b`, { spec: { validationActions: ['Warn'] } }, MERGE);
  const warned = await bench.call('POST', CONFIG_MAPS, configMap('a', { data: { x: '1' } }));
  expect(warned.status).toBe(201);
  expect(`${warned.warning}`).toBe(`299 - "Validation failed for ValidatingAdmissionPolicy 'p' with binding 'b': no data, please"`);
});

test('validating webhooks are not asked about what a policy denies', async () => {
  const hooks = await startHookServer();
  onTestFinished(() => hooks.close());
  hooks.plan('judge', { allowed: false, status: { message: 'no' } });
  const { status, text } = await bench.call('POST', `${GROUP}/validatingwebhookconfigurations`, {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'v' },
    webhooks: [
      {
        name: 'v.example.com',
        clientConfig: { url: `${hooks.url}/judge`, caBundle: hooks.caBundle },
        rules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
      },
    ],
  });
  expect(status, text).toBe(201);
  await enact({ matchConstraints: rule('', 'configmaps'), validations: [{ expression: '!has(object.data)' }] });
  expect((await bench.call('POST', CONFIG_MAPS, configMap('a', { data: { x: '1' } }))).status).toBe(422);
  expect(hooks.calls('judge')).toEqual([]);
  expect((await bench.call('POST', CONFIG_MAPS, configMap('a'))).body).toMatchObject({ message: expect.stringContaining('v.example.com') });
  expect(hooks.calls('judge')).toHaveLength(1);
});

test('a policy judges what the whole chain has made of an object, and deletions', async () => {
  await enact({
    matchConstraints: rule('batch', 'jobs'),
    validations: [{ expression: 'object == null ? oldObject.metadata.name != "keep" : object.spec.backoffLimit == 6' }],
  });
  expect((await bench.call('POST', JOBS, job('keep'))).status).toBe(201);
  expect((await bench.call('DELETE', `${JOBS}/keep`)).status).toBe(422);
});

test('a policy tells the status of a Job from the Job by the resource of its rule, and writers by their field manager', async () => {
  const mayWrite = 'has(request.subResource) && request.options.?fieldManager.orValue("") == "controller"';
  await enact({ matchConstraints: rule('batch', 'jobs/status'), validations: [{ expression: mayWrite, message: 'hands off' }] });
  await bench.call('POST', JOBS, job('j'));
  expect((await bench.call('PATCH', `${JOBS}/j`, { metadata: { labels: { a: 'b' } } }, MERGE)).status).toBe(200);
  const patch = (manager: string) => bench.call('PATCH', `${JOBS}/j/status?fieldManager=${manager}`, { status: { active: 1 } }, MERGE);
  expect((await patch('me')).body).toMatchObject({ message: expect.stringContaining('hands off') });
  expect((await patch('controller')).status).toBe(200);
});

test('a binding may take its limits from a ConfigMap', async () => {
  await bench.call('POST', CONFIG_MAPS, configMap('limits', { data: { max: '2' } }));
  await bench.call(
    'POST',
    POLICIES,
    aPolicy({
      paramKind: { apiVersion: 'v1', kind: 'ConfigMap' },
      matchConstraints: rule('batch', 'jobs'),
      validations: [{ expression: 'object.spec.parallelism <= int(params.data.max)', messageExpression: '"at most " + params.data.max' }],
    }),
  );
  const paramRef = { name: 'limits', namespace: 'default', parameterNotFoundAction: 'Deny' };
  await bench.call('POST', BINDINGS, {
    ...aBinding([]),
    spec: { policyName: 'p', paramRef, validationActions: ['Deny'] },
  });
  const wide = { ...job('j'), spec: { ...(job('j') as { spec: object }).spec, parallelism: 3 } };
  expect((await bench.call('POST', JOBS, wide)).body).toMatchObject({ message: expect.stringContaining('at most 2') });
  expect((await bench.call('POST', JOBS, job('j'))).status).toBe(201);
});
