import { describe, expect, test } from 'vitest';
import { ManifestError, readManifests } from '../../../../../manager/cli/import-kueue/documents.ts';

const read = (text: string) => readManifests('a.yaml', text).map(({ kind, name, place }) => `${kind} ${name}, ${place}`);
const flavor = (name: string) => `apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nmetadata: {name: ${name}}\n`;

describe('a text of manifests', () => {
  test('has a document for each object, and empty ones are none', () => {
    expect(read(`---\n${flavor('a')}---\n# nothing\n---\n${flavor('b')}...\n`)).toEqual([
      'ResourceFlavor a, a.yaml, document 1',
      'ResourceFlavor b, a.yaml, document 3',
    ]);
    expect(read('')).toEqual([]);
  });

  test('may be JSON, and a list as kubectl writes it', () => {
    const items = [{ apiVersion: 'v1', kind: 'A', metadata: { name: 'x' } }];
    expect(read(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }))).toEqual(['A x, a.yaml, document 1, item 1']);
    expect(read(JSON.stringify({ apiVersion: 'v1', kind: 'AList', items: [] }))).toEqual([]);
  });

  test('keeps words that older YAML takes for booleans', () => {
    const [manifest] = readManifests('a', `${flavor('a')}spec: {nodeLabels: {spot: on}}`);
    expect(manifest?.fields).toMatchObject({ spec: { nodeLabels: { spot: 'on' } } });
  });

  test('may be the configuration of Kueue, which has no name, also in its ConfigMap', () => {
    const configuration = 'apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n';
    expect(read(configuration)).toEqual(['Configuration Configuration, a.yaml, document 1']);
    const configMap = (data: object) => JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'c' }, data });
    expect(read(configMap({ 'manager.yaml': configuration }))).toEqual([
      'Configuration Configuration, a.yaml, document 1, manager.yaml, document 1',
    ]);
    expect(read(configMap({ other: 'text' }))).toEqual(['ConfigMap c, a.yaml, document 1']);
  });

  test.each([
    ['a: [', 'a.yaml, document 1: this is no YAML'],
    [`${flavor('a')}---\na: b: c`, 'a.yaml, document 2: this is no YAML'],
    ['a: *b', 'a.yaml, document 1: this is no YAML'],
    ['just text', 'a.yaml, document 1: this is no object; write one with apiVersion, kind and metadata'],
    ['kind: A', 'a.yaml, document 1: apiVersion or kind is missing'],
    ['apiVersion: v1\nkind: A', 'a.yaml, document 1: metadata.name is missing; name the A'],
    ['apiVersion: v1\nkind: List\nitems: [1]', 'a.yaml, document 1, item 1: this is no object'],
  ])('%j is refused: %s', (text, message) => {
    expect(() => read(text)).toThrow(ManifestError);
    expect(() => read(text)).toThrow(message);
  });
});
