import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { ALERTS } from '../../../../shared/monitoring/alerts.ts';
import { monitoringFiles } from '../../../../shared/monitoring/files.ts';
import { runbookIndex } from '../../../../shared/monitoring/runbook-index.ts';

const ROOT = path.join(import.meta.dirname, '..', '..', '..', '..');

test.each([...monitoringFiles()])('%s is what scripts/generate-monitoring.ts writes', (name, text) => {
  expect(readFileSync(path.join(ROOT, name), 'utf8')).toBe(text);
});

test('the list of runbooks has a line for each alert, in the order of their names', () => {
  const names = [...runbookIndex(ALERTS).matchAll(/^\| \[(\w+)\]\(\1\.md\)/gm)].map(([, name]) => name);
  expect(names).toEqual(ALERTS.map(({ name }) => name).toSorted());
});
