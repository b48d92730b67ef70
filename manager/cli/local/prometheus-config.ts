import { ALERTS } from '../../../shared/monitoring/alerts.ts';
import { ruleFile } from '../../../shared/monitoring/alert.ts';

const JOBS = { manager: 'switchyard-manager', worker: 'switchyard-worker' } as const;

/**
 * Configuration and rules of a Prometheus that looks at the programs of a run, as one would on real clusters. `metricsUrls` are by program:
 * `switchyard-manager`, `switchyard-worker-east`.
 */
export function prometheusConfig(metricsUrls: ReadonlyMap<string, string>): { readonly config: object; readonly rules: object } {
  const targetsOf = (job: string): object[] =>
    [...metricsUrls]
      .filter(([name]) => name === job || name.startsWith(`${job}-`))
      .map(([name, url]) => ({
        targets: [new URL(url).host],
        ...(name === job ? {} : { labels: { cluster: name.slice(job.length + 1) } }),
      }));
  return {
    config: {
      // A run is over in seconds.
      global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '5s' },
      rule_files: ['rules.json'],
      // Labels of metrics called namespace and cluster are theirs, and not the target's.
      scrape_configs: Object.values(JOBS).map((job) => ({ job_name: job, honor_labels: true, static_configs: targetsOf(job) })),
    },
    rules: ruleFile(ALERTS, JOBS),
  };
}
