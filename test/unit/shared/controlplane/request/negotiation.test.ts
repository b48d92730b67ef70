import { describe, expect, test } from 'vitest';
import { formatOfErrors, negotiate, type Route } from '../../../../../shared/controlplane/request/negotiation.ts';

const OBJECT: Route = { builtIn: true, ofList: false };
const META = 'v=v1;g=meta.k8s.io';

test('the format is the one that is liked best', () => {
  expect(negotiate('application/json;q=0.5, application/yaml', OBJECT).format).toBe('yaml');
});

test('the version of meta.k8s.io is the one that is asked for', () => {
  expect(negotiate('application/json;as=Table;g=meta.k8s.io;v=v1beta1', OBJECT).metaVersion).toBe('v1beta1');
});

test.each([
  ['', 'object'],
  ['*/*', 'object'],
  ['text/html, */*', 'object'],
  ['application/vnd.kubernetes.protobuf, application/json', 'object'],
  ['application/json;pretty=1', 'object'],
  ['application/json;stream=watch', 'object'],
  [`application/json;as=Table;${META}`, 'table'],
  [`application/json;as=PartialObjectMetadata;${META}`, 'metadata'],
  [`application/json;as=PartialObjectMetadataList;${META}`, 'metadata-list'],
  [`application/json;as=Table;v=v2;g=meta.k8s.io, application/json`, 'object'],
  [`application/json, application/json;as=Table;${META}`, 'object'],
  [`application/json;q=0.5, application/json;as=Table;${META}`, 'table'],
  [`*/*, application/json;as=Table;${META}`, 'table'],
])('%j is shown as %s', (accept, as) => {
  expect(negotiate(accept, OBJECT).as).toBe(as);
});

const representations = (types: string): string => `406: Not Acceptable\n\nAvailable representations: ${types}`;
const TYPES = 'application/json, application/yaml, application/vnd.kubernetes.protobuf';

describe('what cannot be had', () => {
  test('is refused by the route of a built-in kind, which knows its own types only', () => {
    expect(() => negotiate('text/html', OBJECT)).toThrow(representations(TYPES));
    expect(() => negotiate('application/*', OBJECT)).toThrow(representations(TYPES));
    const streams = 'application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch';
    expect(() => negotiate('text/html', { ...OBJECT, ofList: true })).toThrow(representations(`${TYPES}, ${streams}`));
  });

  test.each([
    'application/json;as=Nope;v=v1;g=meta.k8s.io',
    'application/json;v=v1',
    'application/json;stream=other',
    'application/json;sv=v2',
  ])('%s is refused by the handler', (accept) => {
    expect(() => negotiate(accept, OBJECT)).toThrow(`only the following media types are accepted: ${TYPES}`);
  });

  test('is a Table of a document that is no object', () => {
    const table = `application/json;as=Table;${META}`;
    const route: Route = { ...OBJECT, transforms: false };
    expect(() => negotiate(table, route)).toThrow('only the following media types are accepted');
    expect(negotiate(`${table}, application/yaml`, route)).toEqual({ format: 'yaml', as: 'object', metaVersion: 'v1' });
  });
});

test('errors come as JSON to who takes neither JSON nor YAML', () => {
  expect(formatOfErrors('text/html')).toBe('json');
  expect(formatOfErrors('text/html, application/yaml')).toBe('yaml');
});
