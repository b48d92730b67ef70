import { describedMetrics, type DescribedMetric } from './described-metrics.ts';
import { managerRegistry, workerRegistry } from './registries.ts';

/** docs/metrics.md. */
export async function metricsDocs(): Promise<string> {
  const manager = await describedMetrics(managerRegistry());
  const worker = await describedMetrics(workerRegistry());
  const inBoth = new Set(manager.map(({ name }) => name).filter((name) => worker.some((metric) => metric.name === name)));
  const own = (metrics: readonly DescribedMetric[]): string[] => metrics.filter(({ name }) => !inBoth.has(name)).map(lineOf);
  const common = manager.filter(({ name }) => inBoth.has(name)).map((metric) => commonLine(metric, worker));
  return `${OPENING}
## Manager

${own(manager).join('\n')}

## Worker

${own(worker).join('\n')}

## Both

${common.join('\n')}
`;
}

const OPENING = `# Metrics

<!-- Written by scripts/generate-metrics-docs.ts from what the programs register. -->

The metrics of \`/metrics\` of manager and worker, each with its type and labels; [monitoring](monitoring.md) has alerts and dashboards. Times are in seconds, sizes in bytes, resources in their base unit (\`cpu\` in cores). Both programs also serve
Node's own metrics (\`process_*\`, \`nodejs_*\`).

A standby serves metrics, too, with \`switchyard_leader\` 0 and without what only the leader knows. Labels without a bound are those that administrators make: ClusterQueues, Cohorts, flavors, clusters and hosts. The first 1,000 LocalQueues by namespace
and name have series (\`--metrics-local-queues-max\`). Gauges of what is gone go at once, counters and histograms after five minutes. [What a scrape costs](benchmarks.md#a-scrape-npm-run-bench----scrape).
`;

const lineOf = ({ name, type, help, labels }: DescribedMetric): string =>
  `- \`${name}\` (${[type, ...labels.map((label) => `\`${label}\``)].join(', ')}): ${escaped(help)}`;

/** Of a metric that both programs have: they differ at most in the cluster that the manager adds. */
function commonLine(metric: DescribedMetric, worker: readonly DescribedMetric[]): string {
  const line = lineOf(metric);
  const other = worker.find(({ name }) => name === metric.name);
  if (other === undefined || lineOf(other) === line) return line;
  const labels = metric.labels.filter((label) => label !== 'cluster');
  if (lineOf({ ...metric, labels }) !== lineOf(other)) throw new Error(`${metric.name} is not the same in both programs`);
  return line.replace('`cluster`', 'manager: `cluster`');
}

const escaped = (text: string): string => (text.endsWith('.') ? text : `${text}.`).replaceAll('<', '&lt;');
