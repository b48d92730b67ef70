import { expect, test } from 'vitest';
import { pathsOf } from '../../../../../../shared/controlplane/discovery/openapi/openapi-paths.ts';
import { createServedResources, type ServedResource } from '../../../../../../shared/controlplane/resources/served-resources.ts';
import { BUILT_IN_RESOURCES } from '../../../../../../shared/controlplane/kinds/built-in-resources.ts';
import { builtInSchema } from '../../../../../../shared/controlplane/schema/builtin.ts';
import { createStore } from '../../../../../../shared/controlplane/storage/store.ts';
import { FakeClock } from '../../../../../support/fake-clock.ts';

function served(plural: string): ServedResource {
  const resources = createServedResources(createStore({ clock: new FakeClock() }));
  const definition = BUILT_IN_RESOURCES.find((each) => each.plural === plural);
  const schema = definition && builtInSchema(definition.group, definition.version, definition.kind);
  if (definition === undefined || schema === undefined) throw new Error(`${plural} are not built in`);
  resources.add(definition, schema, false);
  const found = resources.find(definition.group, definition.version, plural);
  if (found === undefined) throw new Error(`${plural} are not served`);
  return found;
}

test('a namespaced kind has a path for all namespaces, one for each, and one for its objects', () => {
  expect(Object.keys(pathsOf(served('jobs'), {}, {})).toSorted()).toEqual([
    '/apis/batch/v1/jobs',
    '/apis/batch/v1/namespaces/{namespace}/jobs',
    '/apis/batch/v1/namespaces/{namespace}/jobs/{name}',
    '/apis/batch/v1/namespaces/{namespace}/jobs/{name}/status',
  ]);
});

test('a kind of the cluster has no namespace in its paths, and one without status no path for it', () => {
  expect(Object.keys(pathsOf(served('priorityclasses'), {}, {})).toSorted()).toEqual([
    '/apis/scheduling.k8s.io/v1/priorityclasses',
    '/apis/scheduling.k8s.io/v1/priorityclasses/{name}',
  ]);
});

test('kubectl finds the validation of fields and the kinds of patches that it looks for', () => {
  const text = (resource: ServedResource): string => JSON.stringify(pathsOf(resource, {}, {}));
  expect(text(served('jobs'))).toContain('"fieldValidation"');
  expect(text(served('jobs'))).toContain('application/strategic-merge-patch+json');
  expect(text({ ...served('jobs'), custom: true })).not.toContain('application/strategic-merge-patch+json');
});
