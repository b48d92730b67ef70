import { expect, test } from 'vitest';
import { admissionRequest, type WriteRequest } from '../../../../../shared/controlplane/registry/write-request.ts';

const request = (parts: object): WriteRequest =>
  ({
    resource: { definition: { group: '', version: 'v1', kind: 'Namespace', plural: 'namespaces' } },
    namespace: '',
    name: 'team',
    subresource: '',
    user: { username: 'ann' },
    dryRun: false,
    options: { kind: 'CreateOptions' },
    warn: () => undefined,
    ...parts,
  }) as unknown as WriteRequest;

test('a Namespace is reviewed as an object of its own namespace', () => {
  expect(admissionRequest(request({}), 'CREATE', undefined, undefined)).toMatchObject({ name: 'team', namespace: 'team' });
});

test('a create without a name is reviewed by the name that was generated', () => {
  const object = { metadata: { name: 'team-x7' } };
  expect(admissionRequest(request({ name: '' }), 'CREATE', object as never, undefined).name).toBe('team-x7');
});

test('what an update creates is reviewed with options of a create', () => {
  const options = { kind: 'UpdateOptions', fieldManager: 'kubectl' };
  expect(admissionRequest(request({ options }), 'CREATE', undefined, undefined).options).toEqual({
    kind: 'CreateOptions',
    fieldManager: 'kubectl',
  });
  expect(admissionRequest(request({ options }), 'UPDATE', undefined, undefined).options).toEqual(options);
});
