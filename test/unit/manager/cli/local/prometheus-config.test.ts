import { expect, test } from 'vitest';
import { prometheusConfig } from '../../../../../manager/cli/local/prometheus-config.ts';
import { ALERTS } from '../../../../../shared/monitoring/alerts.ts';

test('a Prometheus looks at the manager and at each worker, and the labels of metrics are theirs', () => {
  const { config, rules } = prometheusConfig(
    new Map([
      ['switchyard-manager', 'http://127.0.0.1:1001/metrics'],
      ['switchyard-worker-east', 'http://127.0.0.1:1002/metrics'],
      ['switchyard-worker-manager', 'http://127.0.0.1:1003/metrics'],
    ]),
  );
  expect(config).toMatchObject({
    rule_files: ['rules.json'],
    scrape_configs: [
      { job_name: 'switchyard-manager', honor_labels: true, static_configs: [{ targets: ['127.0.0.1:1001'] }] },
      {
        job_name: 'switchyard-worker',
        honor_labels: true,
        static_configs: [
          { targets: ['127.0.0.1:1002'], labels: { cluster: 'east' } },
          { targets: ['127.0.0.1:1003'], labels: { cluster: 'manager' } },
        ],
      },
    ],
  });
  const alerts = (rules as { groups: { rules: { alert: string }[] }[] }).groups.flatMap((group) => group.rules.map(({ alert }) => alert));
  expect(alerts.toSorted()).toEqual(ALERTS.map(({ name }) => name).toSorted());
});
