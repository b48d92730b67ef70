import { describe, expect, test } from 'vitest';
import { DASHBOARDS } from '../../../shared/monitoring/dashboards/dashboards.ts';
import { grafanaDashboard } from '../../../shared/monitoring/dashboards/grafana.ts';
import { ofKind, renderChart, type Rendered } from '../../support/helm.ts';

type DashboardMap = Rendered & { readonly data: Readonly<Record<string, string>> };
const isDashboard = ({ metadata }: Rendered): boolean => metadata.name.startsWith('test-switchyard-manager-');
const mapsOf = (...values: string[]): DashboardMap[] =>
  ofKind(renderChart('manager', 'dashboards.enabled=true', ...values), 'ConfigMap').filter(isDashboard) as DashboardMap[];

describe('the dashboards of the chart', () => {
  test('are there when they are asked for alone', () => {
    expect(ofKind(renderChart('manager'), 'ConfigMap').filter(isDashboard)).toEqual([]);
    expect(mapsOf()).toHaveLength(DASHBOARDS.length);
  });

  test('are what the typed source says, each in a ConfigMap with the label that Grafana’s sidecar looks for', () => {
    const rendered = mapsOf().map(({ metadata, data }) => {
      expect(metadata).toMatchObject({ namespace: 'switchyard', labels: { grafana_dashboard: '1' } });
      const [[file = '', text = ''] = []] = Object.entries(data);
      return [file, JSON.parse(text) as object];
    });
    expect(Object.fromEntries(rendered)).toEqual(
      Object.fromEntries(DASHBOARDS.map((dashboard) => [`${dashboard.uid}.json`, grafanaDashboard(dashboard)])),
    );
  });

  test('go where somebody wants them, under the label and into the folder that he has', () => {
    const [first] = mapsOf(
      'dashboards.namespace=grafana',
      'dashboards.label=dash',
      'dashboards.labelValue=yes',
      'dashboards.annotations.grafana_folder=Jobs',
    );
    expect(first?.metadata).toMatchObject({ namespace: 'grafana', labels: { dash: 'yes' }, annotations: { grafana_folder: 'Jobs' } });
  });
});
