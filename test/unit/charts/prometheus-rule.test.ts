import { describe, expect, test } from 'vitest';
import { ruleOf, type Rule } from '../../../shared/monitoring/alert.ts';
import { ALERTS } from '../../../shared/monitoring/alerts.ts';
import { ofKind, renderChart, type Chart, type Rendered } from '../../support/helm.ts';

type RuleObject = Rendered & { readonly metadata: { labels: object }; spec: { groups: { name: string; rules: Rule[] }[] } };
const rule = (chart: Chart, ...values: string[]): RuleObject => {
  const [object] = ofKind(renderChart(chart, 'prometheusRule.enabled=true', ...values), 'PrometheusRule');
  if (object === undefined) throw new Error('the chart renders no PrometheusRule');
  return object as unknown as RuleObject;
};
const rulesOf = (chart: Chart, ...values: string[]): Rule[] => rule(chart, ...values).spec.groups.flatMap(({ rules }) => rules);

describe.each(['manager', 'worker'] as const)('the alerts of the chart of the %s', (chart) => {
  const own = ALERTS.filter(({ program }) => program === chart);

  test('are there when they are asked for alone', () => {
    expect(ofKind(renderChart(chart), 'PrometheusRule')).toEqual([]);
    expect(rulesOf(chart)).toHaveLength(own.length);
  });

  test('are the rules that are tested, for the scrape jobs of the release', () => {
    expect(rulesOf(chart)).toEqual(own.map((alert) => ruleOf(alert, `(.+/)?test-switchyard-${chart}`)));
    expect(rulesOf(chart, 'prometheusRule.job=ours')).toEqual(own.map((alert) => ruleOf(alert, 'ours')));
  });

  test('have a namespace and labels by which an operator finds them', () => {
    const { metadata } = rule(chart, 'prometheusRule.namespace=monitoring', 'prometheusRule.additionalLabels.release=prometheus');
    expect(metadata).toMatchObject({
      name: `test-switchyard-${chart}`,
      namespace: 'monitoring',
      labels: { release: 'prometheus', 'app.kubernetes.io/instance': 'test' },
    });
  });
});

describe('an alert', () => {
  const at = 'prometheusRule.alerts.SwitchyardQueueStuck';
  const stuck = (...values: string[]): Rule | undefined =>
    rulesOf('manager', ...values).find(({ alert }) => alert === 'SwitchyardQueueStuck');
  const alert = ALERTS.find(({ name }) => name === 'SwitchyardQueueStuck');
  const JOB = '(.+/)?test-switchyard-manager';

  test('is switched off alone', () => {
    expect(stuck(`${at}.enabled=false`)).toBeUndefined();
    expect(rulesOf('manager', `${at}.enabled=false`)).toHaveLength(ALERTS.filter(({ program }) => program === 'manager').length - 1);
    expect(stuck(`${at}.enabled=true`)).toBeDefined();
  });

  test('has other numbers, zero among them, in its expression and its text', () => {
    const settings = { for: '1h', severity: 'page', thresholds: { seconds: 0, usage: 0.25 } };
    const given = [`${at}.for=1h`, `${at}.severity=page`, `${at}.thresholds.seconds=0`, `${at}.thresholds.usage=0.25`];
    expect(stuck(...given)).toEqual(alert && ruleOf(alert, JOB, settings));
    expect(stuck(...given)?.expr).toContain('> 0 and on (cluster_queue)');
    expect(stuck(...given)?.annotations['description']).toContain('not even 0.25 of any of its quota');
  });

  test('leads to pages that somebody keeps elsewhere', () => {
    expect(stuck('prometheusRule.runbookUrl=https://wiki.example/switchyard/')?.annotations['runbook_url']).toBe(
      'https://wiki.example/switchyard/SwitchyardQueueStuck.md',
    );
  });
});
