import { describe, expect, test } from 'vitest';
import { StatusError } from '../../../../../shared/controlplane/apimachinery/status-error.ts';
import { formatOfErrors, negotiate } from '../../../../../shared/controlplane/request/negotiation.ts';

describe('the representation of an answer', () => {
  test.each([
    ['', { format: 'json', as: 'object' }],
    ['*/*', { format: 'json', as: 'object' }],
    ['application/yaml', { format: 'yaml', as: 'object' }],
    ['application/vnd.kubernetes.protobuf, application/json', { format: 'json', as: 'object' }],
    ['application/json;q=0.5, application/yaml', { format: 'yaml' }],
    ['application/json;as=Table;g=meta.k8s.io;v=v1', { as: 'table', metaVersion: 'v1' }],
    ['application/json;as=Table;g=meta.k8s.io;v=v1beta1', { as: 'table', metaVersion: 'v1beta1' }],
    ['application/json;as=Table;v=v1;g=other, application/json', { as: 'object' }],
    ['application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1', { as: 'metadata' }],
  ])('for %j', (accept, representation) => {
    expect(negotiate(accept, true)).toMatchObject(representation);
  });

  const refusal = (accept: string, builtIn: boolean): string => {
    try {
      negotiate(accept, builtIn);
    } catch (error) {
      if (error instanceof StatusError) return `${error.code} ${error.message}`;
      throw error;
    }
    throw new Error('it was not refused');
  };

  test('for who takes nothing that is served is a refusal that lists what is', () => {
    expect(refusal('text/html', true)).toMatch(/^406 406: Not Acceptable\n\nAvailable representations: application\/json/);
    expect(refusal('text/html', false)).toMatch(/^406 only the following media types are accepted: application\/json/);
    expect(refusal('application/json;as=Picture;g=meta.k8s.io;v=v1', true)).toMatch(/^406 only the following/);
  });
});

test('errors come as JSON to who takes neither JSON nor YAML', () => {
  expect(formatOfErrors('text/html')).toBe('json');
  expect(formatOfErrors('text/html, application/yaml')).toBe('yaml');
});
