import type { Dashboard, Panel, Variable } from './dashboard.ts';

const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };
const COLUMNS = 24;
const STAT = { w: 4, h: 4 };
const GRAPH = { w: 8, h: 8 };

/** Grafana's JSON, the same whenever it is made: ids are counted, and nothing of it depends on where or when. */
export function grafanaDashboard({ uid, title, about, variables, rows }: Dashboard): object {
  return {
    uid,
    title: `Switchyard / ${title}`,
    description: about,
    tags: ['switchyard'],
    schemaVersion: 39,
    version: 1,
    editable: true,
    graphTooltip: 1,
    refresh: '30s',
    time: { from: 'now-3h', to: 'now' },
    timezone: 'browser',
    annotations: { list: [] },
    links: [{ type: 'dashboards', title: 'Switchyard', tags: ['switchyard'], asDropdown: true, includeVars: true, keepTime: true }],
    templating: {
      list: [
        { name: 'datasource', label: 'Prometheus', type: 'datasource', query: 'prometheus', current: {}, hide: 0, refresh: 1 },
        ...variables.map(variableOf),
      ],
    },
    panels: panelsOf(rows),
  };
}

/** All stands for those that there are, and for nothing else: figures of processes are the same for all programs. */
const variableOf = ({ name, label, metric }: Variable): object => ({
  name,
  label: name.replaceAll('_', ' '),
  type: 'query',
  datasource: DATASOURCE,
  query: { query: `label_values(${metric}, ${label})`, refId: 'variable' },
  definition: `label_values(${metric}, ${label})`,
  refresh: 2,
  sort: 1,
  multi: true,
  includeAll: true,
  current: { selected: true, text: ['All'], value: ['$__all'] },
});

function panelsOf(rows: Dashboard['rows']): readonly object[] {
  const placed: object[] = [];
  let top = 0;
  for (const { title, panels } of rows) {
    placed.push({ id: placed.length + 1, type: 'row', title, collapsed: false, panels: [], gridPos: { x: 0, y: top, w: COLUMNS, h: 1 } });
    top++;
    let [left, height] = [0, 0];
    for (const panel of panels) {
      const { w, h } = panel.kind === 'stat' ? STAT : GRAPH;
      if (left + w > COLUMNS) [left, top, height] = [0, top + height, 0];
      placed.push({ id: placed.length + 1, gridPos: { x: left, y: top, w, h }, ...panelOf(panel) });
      left += w;
      height = Math.max(height, h);
    }
    top += height;
  }
  return placed;
}

function panelOf({ title, about, kind, unit, queries }: Panel): object {
  return {
    type: kind,
    title,
    description: about,
    datasource: DATASOURCE,
    targets: queries.map(({ expr, legend }, index) => ({
      refId: String.fromCharCode('A'.charCodeAt(0) + index),
      datasource: DATASOURCE,
      expr,
      legendFormat: legend,
      ...(kind === 'stat' ? { instant: true, range: false } : { instant: false, range: true }),
    })),
    fieldConfig: {
      defaults: { unit, min: 0, ...(kind === 'timeseries' ? { custom: { lineWidth: 1, fillOpacity: 10, showPoints: 'never' } } : {}) },
      overrides: [],
    },
    options:
      kind === 'stat'
        ? { reduceOptions: { calcs: ['lastNotNull'], fields: '', values: false }, colorMode: 'value', graphMode: 'area', textMode: 'auto' }
        : { legend: { displayMode: 'list', placement: 'bottom', showLegend: true }, tooltip: { mode: 'multi', sort: 'desc' } },
  };
}
