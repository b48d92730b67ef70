import { expect, test } from 'vitest';
import { registerRequestTypes, requestValue } from '../../../../../../shared/controlplane/admission/webhook/request-value.ts';
import { CelCompileError, compileCel, kubernetesEnvironment } from '../../../../../../shared/cel/environment.ts';
import { anAdmissionRequest } from './an-admission-request.ts';

const environment = kubernetesEnvironment.clone();
registerRequestTypes(environment);
environment.registerVariable('request', 'kubernetes.AdmissionRequest');
const request = anAdmissionRequest({ namespace: '', user: { name: 'alice', groups: [], uid: '7' } });

test('a request has what is not empty', () => {
  const value = requestValue(request, request);
  expect(value).toMatchObject({ name: 'a', operation: 'CREATE', dryRun: false, userInfo: { username: 'alice', uid: '7' } });
  for (const field of ['namespace', 'subResource', 'requestSubResource']) expect(value).not.toHaveProperty(field);
  expect(value).not.toHaveProperty('userInfo.groups');
});

test('fields that a request never has do not compile, and its parts can be compared', () => {
  expect(() => compileCel(environment, 'request.object == null')).toThrow(CelCompileError);
  const equal = compileCel(environment, 'request.kind == request.requestKind && request.resource == request.requestResource');
  expect(equal.run({ request: requestValue(request, request) }).value).toBe(true);
  const asked = { ...request, kind: { ...request.kind, version: 'v2' } };
  expect(equal.run({ request: requestValue(request, asked) }).value).toBe(false);
});
