/** Goal: whoever copies a query of docs/slo.md asks for metrics that there are. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from 'vitest';
import { SLO } from '../../../../shared/monitoring/dashboards/slo.ts';
import { readSources } from '../../../support/source-files.ts';

const DOCUMENT = readFileSync(path.join(import.meta.dirname, '..', '..', '..', '..', 'docs', 'slo.md'), 'utf8');

test('every metric in the queries of the objectives is made somewhere in the programs', () => {
  const made = readSources()
    .filter(({ name }) => /^(shared|manager|worker)\//.test(name))
    .flatMap(({ text }) => [
      ...[...text.matchAll(/name: '(switchyard_[a-z_]+|job_controller_[a-z_]+)'/g)].map(([, name]) => name),
      // The Job controller's, whose counters are made by a function of their own.
      ...[...text.matchAll(/counter\('([a-z_]+)'/g)].map(([, name]) => `job_controller_${name}`),
    ]);
  const asked = [...DOCUMENT.matchAll(/```promql\n(.*?)```/gs)].flatMap(([, queries = '']) =>
    [...queries.matchAll(/(?:switchyard|job_controller)_[a-z_]+/g)].map(([name]) => name.replace(/_(bucket|count|sum)$/, '')),
  );
  expect(new Set(asked).size).toBeGreaterThan(5);
  expect(asked.filter((name) => !made.includes(name))).toEqual([]);
});

/** As the page writes what the dashboard asks of the managers and the time that are chosen above it. */
const asWritten = (expr: string): string =>
  expr
    .replaceAll('{job=~"$manager"}', '')
    .replaceAll('job=~"$manager", ', '')
    .replaceAll('{job=~"$worker"}', '')
    .replaceAll('job=~"$worker", ', '')
    .replaceAll('[$__range:]', '[28d:1m]')
    .replaceAll('[$__range]', '[28d]')
    .replaceAll('[$__rate_interval]', '[1d]');

test('each objective has its queries, and the dashboard SLO asks just them', () => {
  const table = /\| objective .*?\n\n/s.exec(DOCUMENT)?.[0] ?? '';
  const objectives = [...table.matchAll(/^\| ([a-z ]+) \|/gm)].map(([, name = '']) => name).filter((name) => name !== 'objective');
  expect(objectives).toHaveLength(6);
  const shown = SLO.rows.flatMap(({ panels }) => panels.flatMap(({ queries }) => queries.map(({ expr }) => asWritten(expr))));
  const sections = DOCUMENT.split(/^## /m).slice(1);
  for (const objective of objectives) {
    const section = sections.find((text) => text.split('\n', 1)[0]?.toLowerCase().replace(/^the /, '') === objective);
    const queries =
      /```promql\n(.*?)```/s
        .exec(section ?? '')?.[1]
        ?.trim()
        .split('\n') ?? [];
    expect([objective, queries.filter((query) => !shown.includes(query))]).toEqual([objective, []]);
    expect(queries.length).toBeGreaterThan(0);
  }
  // And nothing that is told over the chosen time is told there alone.
  const written = [...DOCUMENT.matchAll(/```promql\n(.*?)```/gs)].flatMap(([, queries = '']) => queries.trim().split('\n'));
  expect(shown.filter((expr) => expr.includes('28d') && !written.includes(expr))).toEqual([]);
});
