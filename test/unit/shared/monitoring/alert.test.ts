import { describe, expect, test } from 'vitest';
import { ruleFile, ruleOf, type Alert } from '../../../../shared/monitoring/alert.ts';
import { ALERTS } from '../../../../shared/monitoring/alerts.ts';

const LATE: Alert = {
  name: 'SwitchyardLate',
  program: 'manager',
  severity: 'warning',
  for: '5m',
  thresholds: { seconds: 30, window: '10m' },
  expr: 'rate(late{job=~"$job"}[$window]) > $seconds',
  summary: '{{ $labels.cluster }} is late',
  description: '{{ $value }} for $for, and $seconds s is the limit',
};

describe('a rule', () => {
  test('has job, numbers and wait filled in, and leaves what Prometheus fills in', () => {
    expect(ruleOf(LATE, 'sw.*')).toEqual({
      alert: 'SwitchyardLate',
      expr: 'rate(late{job=~"sw.*"}[10m]) > 30',
      for: '5m',
      labels: { severity: 'warning' },
      annotations: {
        summary: '{{ $labels.cluster }} is late',
        description: '{{ $value }} for 5m, and 30 s is the limit',
        runbook_url: 'https://github.com/switchyard/switchyard/blob/main/docs/runbooks/SwitchyardLate.md',
      },
    });
  });

  test('says in its texts what it was set to', () => {
    const rule = ruleOf(LATE, 'x', { for: '1h', severity: 'page', thresholds: { seconds: 0 } }, 'https://wiki');
    expect([rule.expr, rule.for, rule.labels]).toEqual(['rate(late{job=~"x"}[10m]) > 0', '1h', { severity: 'page' }]);
    expect(rule.annotations).toMatchObject({
      description: '{{ $value }} for 1h, and 0 s is the limit',
      runbook_url: 'https://wiki/SwitchyardLate.md',
    });
  });

  test('stands in the group of its program', () => {
    const groups = ruleFile([LATE, { ...LATE, name: 'SwitchyardDown', program: 'worker' }], { manager: 'm', worker: 'w' }).groups;
    expect(groups.map(({ name, rules }) => [name, rules.map(({ alert, expr }) => [alert, expr])])).toEqual([
      ['switchyard-manager', [['SwitchyardLate', 'rate(late{job=~"m"}[10m]) > 30']]],
      ['switchyard-worker', [['SwitchyardDown', 'rate(late{job=~"w"}[10m]) > 30']]],
    ]);
  });
});

describe.each(ALERTS.map((alert) => [alert.name, alert] as const))('%s', (_name, alert) => {
  const { labels, annotations, expr, for: waits } = ruleOf(alert, 'job', {});
  const words = (text: string): string[] => [...text.matchAll(/\$(\w+)/g)].map(([, name = '']) => name);

  test('waits, has a severity, says what is wrong in a line and in sentences', () => {
    expect(waits).toMatch(/^[1-9]\d*[smh]$/);
    expect(['critical', 'warning']).toContain(labels['severity']);
    expect(annotations['summary']?.length).toBeLessThan(100);
    expect(annotations['description']).toMatch(/^[A-Z{].*\.$/);
  });

  test('has no number that nobody uses, and uses none that it does not have', () => {
    const used = new Set(
      words(`${alert.expr} ${alert.summary} ${alert.description}`).filter((name) => !['labels', 'value'].includes(name)),
    );
    expect([...used].filter((name) => name !== 'job' && name !== 'for').toSorted()).toEqual(Object.keys(alert.thresholds).toSorted());
    expect(words(expr)).toEqual([]);
    // Texts are filled in name by name.
    const names = [...Object.keys(alert.thresholds), 'job', 'for', 'labels', 'value'];
    expect(names.filter((name) => names.some((other) => other !== name && other.startsWith(name)))).toEqual([]);
  });

  test('tells the numbers by which it was judged', () => {
    const told = words(alert.description);
    // How far it looked back stands where a count is told.
    expect(Object.keys(alert.thresholds).filter((name) => name !== 'window' && !told.includes(name))).toEqual([]);
    expect(told.includes('value') || told.includes('for') || told.includes('window')).toBe(true);
  });
});

test('no two alerts have one name', () => {
  expect(new Set(ALERTS.map(({ name }) => name)).size).toBe(ALERTS.length);
});
