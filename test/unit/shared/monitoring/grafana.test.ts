import { describe, expect, test } from 'vitest';
import type { Dashboard, Panel } from '../../../../shared/monitoring/dashboards/dashboard.ts';
import { DASHBOARDS } from '../../../../shared/monitoring/dashboards/dashboards.ts';
import { grafanaDashboard } from '../../../../shared/monitoring/dashboards/grafana.ts';

type Placed = { id: number; type: string; title: string; gridPos: { x: number; y: number; w: number; h: number } };
type Json = {
  uid: string;
  panels: (Placed & { targets?: { refId: string; expr: string; datasource: unknown }[] })[];
  templating: { list: { name: string; query: unknown }[] };
};
const jsonOf = (dashboard: Dashboard): Json => grafanaDashboard(dashboard) as Json;

const panel = (title: string, kind: Panel['kind']): Panel => ({
  title,
  about: 'a test',
  kind,
  unit: 's',
  queries: [
    { expr: 'up{job=~"$manager"}', legend: '{{job}}' },
    { expr: 'down', legend: 'down' },
  ],
});
const SMALL: Dashboard = {
  uid: 'switchyard-small',
  title: 'Small',
  about: 'a test',
  variables: [{ name: 'manager', label: 'job', metric: 'up' }],
  rows: [
    { title: 'One', panels: [panel('a', 'stat'), panel('b', 'timeseries'), panel('c', 'timeseries'), panel('d', 'timeseries')] },
    { title: 'Two', panels: [panel('e', 'stat')] },
  ],
};

test('panels stand in rows of 24 columns, one below the other', () => {
  expect(jsonOf(SMALL).panels.map(({ title, gridPos: { x, y, w, h } }) => [title, x, y, w, h])).toEqual([
    ['One', 0, 0, 24, 1],
    ['a', 0, 1, 4, 4],
    ['b', 4, 1, 8, 8],
    ['c', 12, 1, 8, 8],
    ['d', 0, 9, 8, 8],
    ['Two', 0, 17, 24, 1],
    ['e', 0, 18, 4, 4],
  ]);
});

test('each query has a letter and asks the Prometheus that was chosen', () => {
  const [, first] = jsonOf(SMALL).panels;
  expect(first?.targets).toMatchObject([
    { refId: 'A', expr: 'up{job=~"$manager"}', legendFormat: '{{job}}', datasource: { uid: '${datasource}' } },
    { refId: 'B', expr: 'down' },
  ]);
  expect(jsonOf(SMALL).templating.list).toMatchObject([
    { name: 'datasource', query: 'prometheus' },
    { name: 'manager', query: { query: 'label_values(up, job)' } },
  ]);
});

describe.each(DASHBOARDS.map((dashboard) => [dashboard.title, dashboard] as const))('%s', (_title, dashboard) => {
  test('uses the variables that it has, and no others', () => {
    const queries = dashboard.rows.flatMap(({ panels }) => panels.flatMap((each) => each.queries.map(({ expr }) => expr)));
    const used = new Set(queries.flatMap((expr) => [...expr.matchAll(/\$([a-z]\w*)/g)].map(([, name = '']) => name)));
    expect([...used].toSorted()).toEqual(dashboard.variables.map(({ name }) => name).toSorted());
  });

  test('has panels that say what they show, and titles by which they are told apart', () => {
    for (const { title, panels } of dashboard.rows) {
      expect(title).not.toBe('');
      expect(panels.filter(({ about, queries }) => !about.endsWith('.') || queries.length === 0).map((each) => each.title)).toEqual([]);
      expect(new Set(panels.map((each) => each.title)).size).toBe(panels.length);
    }
  });
});

test('no two dashboards have one uid', () => {
  expect(new Set(DASHBOARDS.map(({ uid }) => uid)).size).toBe(DASHBOARDS.length);
});
