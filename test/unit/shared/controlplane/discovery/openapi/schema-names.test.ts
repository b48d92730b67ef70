import { expect, test } from 'vitest';
import { createSchemaNames, customName, forEachObject } from '../../../../../../shared/controlplane/discovery/openapi/schema-names.ts';
import { builtInSchema } from '../../../../../../shared/controlplane/schema/builtin.ts';
import type { ObjectSchema } from '../../../../../../shared/controlplane/schema/schema.ts';

const job = (): ObjectSchema => {
  const schema = builtInSchema('batch', 'v1', 'Job');
  if (schema === undefined) throw new Error('Jobs are built in');
  return schema;
};

test('types are called by the Go package that holds them', () => {
  const names = createSchemaNames();
  const found = new Map<string, string>();
  forEachObject(job(), (schema) => {
    const isNew = !found.has(schema.name);
    found.set(schema.name, names.nameOf(schema));
    return isNew;
  });
  expect(Object.fromEntries(found)).toMatchObject({
    Job: 'io.k8s.api.batch.v1.Job',
    JobSpec: 'io.k8s.api.batch.v1.JobSpec',
    PodSpec: 'io.k8s.api.core.v1.PodSpec',
    ObjectMeta: 'io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta',
    LabelSelector: 'io.k8s.apimachinery.pkg.apis.meta.v1.LabelSelector',
  });
});

test('a custom kind is called by its group reversed', () => {
  expect(customName({ group: 'switchyard.dev', version: 'v1alpha1', kind: 'ClusterQueue' })).toBe('dev.switchyard.v1alpha1.ClusterQueue');
});

test('a walk goes below an object only where it is told to', () => {
  const seen: string[] = [];
  forEachObject(job(), (schema) => {
    seen.push(schema.name);
    return schema.name === 'Job';
  });
  expect(seen[0]).toBe('Job');
  expect(seen).not.toContain('PodSpec');
});
