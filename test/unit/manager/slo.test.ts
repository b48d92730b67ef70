/** Goal: whoever copies a query of docs/slo.md asks for metrics that there are. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { readSources } from '../../support/source-files.ts';

const DOCUMENT = readFileSync(path.join(import.meta.dirname, '..', '..', '..', 'docs', 'slo.md'), 'utf8');

test('every metric in the queries of the objectives is made somewhere in the programs', () => {
  const made = readSources()
    .filter(({ name }) => /^(shared|manager)\//.test(name))
    .flatMap(({ text }) => [...text.matchAll(/name: '(switchyard_[a-z_]+)'/g)].map(([, name]) => name));
  const asked = [...DOCUMENT.matchAll(/```promql\n(.*?)```/gs)].flatMap(([, queries = '']) =>
    [...queries.matchAll(/switchyard_[a-z_]+/g)].map(([name]) => name.replace(/_(bucket|count|sum)$/, '')),
  );
  expect(new Set(asked).size).toBeGreaterThan(5);
  expect(asked.filter((name) => !made.includes(name))).toEqual([]);
});
