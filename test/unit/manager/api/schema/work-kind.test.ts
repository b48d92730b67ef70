import { describe, expect, test } from 'vitest';
import { WORK_KIND_SCHEMA } from '../../../../../manager/api/schema/work-kind.ts';
import { WORK_KINDS } from '../../../../../manager/api/work-kind.ts';
import { createValidator } from '../../../../../manager/cli/what-if/validation.ts';
import { CREW_SPEC, SHIPPED } from '../../work-kind/described/described.ts';

const stored = (spec: object, name = 'crews.example.com'): unknown =>
  createValidator(0)(
    WORK_KINDS,
    { apiVersion: 'switchyard.dev/v1alpha1', kind: 'WorkKind', metadata: { name }, spec },
    undefined,
    'kind.yaml',
  );
const [captain, groups] = CREW_SPEC.podSets;

test('the definition names what it is', () => {
  expect(WORK_KIND_SCHEMA.shortNames).toEqual(['wk']);
});

test.each([...SHIPPED])('the description of %s is taken as it is', (_kind, { metadata, spec }) => {
  expect(stored(spec, metadata.name)).toMatchObject({ spec });
});

describe('a description is refused with the field and the remedy', () => {
  test.each([
    ['another name than that of the definition', CREW_SPEC, 'crew', 'the name must be that of the CustomResourceDefinition'],
    ['a path outside of the spec', { ...CREW_SPEC, suspend: 'metadata.labels' }, undefined, 'spec.suspend'],
    ['a pod set without a name', { ...CREW_SPEC, podSets: [{ template: 'spec.captain' }] }, undefined, 'a pod set needs a name, or items'],
    ['two places of one template', { ...CREW_SPEC, podSets: [{ ...captain, resources: 'spec.a' }] }, undefined, 'exactly one of template'],
    ['a least count that cannot be written', { ...CREW_SPEC, podSets: [{ ...captain, minCount: '1' }] }, undefined, 'must be set together'],
    ['no pods', { ...CREW_SPEC, podSets: [] }, undefined, 'spec.podSets'],
    ['a field that is none', { ...CREW_SPEC, podset: [groups] }, undefined, 'unknown field "spec.podset"'],
  ])('%s', (_what, spec, name, message) => {
    expect(() => stored(spec, name)).toThrow(message);
  });
});
