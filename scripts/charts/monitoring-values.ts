/** The values by which a chart brings alerts and dashboards. */
import { RUNBOOK_URL, type Alert, type Program } from '../../shared/monitoring/alert.ts';
import { ALERTS } from '../../shared/monitoring/alerts.ts';
import { Type } from 'typebox';
import { group, isOn, text, textMap, type ChartValue } from './chart-value.ts';

/** As Prometheus writes durations. */
const DURATION = '^([0-9]+(ms|[smhdwy]))+$';

export const prometheusRuleValues = (program: Program): Record<string, ChartValue> => ({
  prometheusRule: group('Alerts for the Prometheus Operator, each with a page in docs/runbooks (docs/monitoring.md).', {
    enabled: isOn('', false),
    namespace: text('Defaults to the namespace of the release.'),
    additionalLabels: textMap('By which the operator finds the rules, such as release: prometheus.'),
    job: text('Regular expression of the scrape job. Empty: what ServiceMonitor and PodMonitor of the release come to.'),
    runbookUrl: text('Where the pages of docs/runbooks are.', RUNBOOK_URL, { minLength: 1 }),
    alerts: group(
      'What an alert waits for, how grave it is, and by which numbers it judges; enabled: false switches it off.',
      Object.fromEntries(ALERTS.filter((alert) => alert.program === program).map((alert) => [alert.name, settingsOf(alert)])),
    ),
  }),
});

const settingsOf = ({ for: waits, severity, thresholds }: Alert): ChartValue => {
  const numbers = Object.entries(thresholds).map(([name, value]) => [name, thresholdOf(value)] as const);
  return group('', {
    enabled: isOn('', true),
    for: text('', waits, { pattern: DURATION }),
    severity: text('', severity, { minLength: 1 }),
    ...(numbers.length === 0 ? {} : { thresholds: group('', Object.fromEntries(numbers)) }),
  });
};

/** `--set` makes a text of a number with a point. */
const thresholdOf = (value: number | string): ChartValue =>
  typeof value === 'number'
    ? Type.Unsafe({ type: ['number', 'string'], pattern: '^[0-9]+([.][0-9]+)?$', default: value })
    : text('', value, { pattern: DURATION });

export const DASHBOARD_VALUES: Record<string, ChartValue> = {
  dashboards: group('Dashboards of Grafana, as ConfigMaps for the sidecar of its chart.', {
    enabled: isOn('', false),
    namespace: text('Defaults to the namespace of the release.'),
    label: text('The label that the sidecar looks for, and its value.', 'grafana_dashboard', { minLength: 1 }),
    labelValue: text('', '1'),
    annotations: textMap('Such as grafana_folder: Switchyard, where the sidecar is told to heed that.'),
  }),
};
