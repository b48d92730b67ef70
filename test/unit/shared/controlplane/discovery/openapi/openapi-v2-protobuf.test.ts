import { expect, test } from 'vitest';
import { encodeSwagger } from '../../../../../../shared/controlplane/discovery/openapi/openapi-v2-protobuf.ts';

/** The strings of a protobuf document, in order, by what looks like one to the eye. */
const textOf = (encoded: Uint8Array): string => Buffer.from(encoded).toString('latin1');

test('a document carries its version, title, paths with their operations, and definitions', () => {
  const encoded = textOf(
    encodeSwagger({
      swagger: '2.0',
      info: { title: 'Kubernetes', version: 'v1.36' },
      paths: {
        '/api/v1/pods': { get: { operationId: 'listPod', 'x-kubernetes-action': 'list' }, parameters: [{ name: 'namespace', in: 'path' }] },
      },
      definitions: { 'io.k8s.Pod': { type: 'object', required: ['spec'], properties: { spec: { $ref: '#/definitions/io.k8s.PodSpec' } } } },
    }),
  );
  for (const text of [
    '2.0',
    'Kubernetes',
    'v1.36',
    '/api/v1/pods',
    'listPod',
    'x-kubernetes-action',
    '"list"',
    'namespace',
    'io.k8s.Pod',
    '#/definitions/io.k8s.PodSpec',
  ]) {
    expect(encoded).toContain(text);
  }
});

test('maps and lists describe what is in them', () => {
  const encoded = textOf(
    encodeSwagger({
      definitions: { M: { additionalProperties: { type: 'string' } }, L: { items: { format: 'int32' } }, A: { allOf: [{ $ref: '#/x' }] } },
    }),
  );
  for (const text of ['string', 'int32', '#/x']) expect(encoded).toContain(text);
});

test('parts of the wrong shape are taken for absent', () => {
  expect(() => encodeSwagger({ info: [], paths: 'none', definitions: null })).not.toThrow();
});
