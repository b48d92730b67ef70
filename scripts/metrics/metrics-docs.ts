import { describedMetrics, type DescribedMetric } from './described-metrics.ts';
import { managerRegistry, workerRegistry } from './registries.ts';

/** docs/metrics.md. */
export async function metricsDocs(): Promise<string> {
  const manager = await describedMetrics(managerRegistry());
  const worker = await describedMetrics(workerRegistry());
  return `${OPENING}
## Manager

${tableOf(manager)}

## Worker

${tableOf(worker)}
`;
}

const OPENING = `# Metrics

<!-- Written by scripts/generate-metrics-docs.ts from what the programs register. -->

What \`/metrics\` of manager and worker tells. What is made of it, alerts and dashboards, is on the page about [monitoring](monitoring.md). Times are in seconds, sizes in bytes, amounts of resources in their base unit (\`cpu\` in
cores, \`memory\` in bytes). A histogram has series \`_bucket\`, \`_sum\` and \`_count\`. Besides, both programs tell what Node tells of itself (\`process_*\`, \`nodejs_*\`).

Who stands by serves metrics, too: \`switchyard_leader\` is 0 there, and what only who leads knows (clusters, reasons, LocalQueues) has no series. ClusterQueues, Cohorts, flavors, clusters and their hosts, which administrators make, are labels without a
bound. LocalQueues have figures of their own for the first 1,000 by namespace and name (\`--metrics-local-queues-max\`; \`switchyard_local_queues_without_series\` tells how many have none); those of SubmissionQueues have one for each. The Job controller's \`controller_name\` is what
Jobs say in \`managedBy\`, as upstream. What else there is of labels has few values. Gauges of what is gone go at once, counters and histograms after five minutes, so that
the last of it is told.

Counters begin at zero: those of a queue or cluster when it comes, those of pairs of both, of requests by code and of the Job controller, where upstream's do, with the first that is counted.

What a scrape costs (\`npm run bench -- scrape\`): a manager on which 100,000 Jobs wait in 1,000 ClusterQueues, with 100 clusters, has 105,000 series in 8.8 MiB of text, which take 0.16 s of processor time, in slices: nothing else is kept waiting for
longer than 18 ms (medians of 15, two cores, load average 3, November 2026). A longer interval is the way to less.
`;

const tableOf = (metrics: readonly DescribedMetric[]): string =>
  ['| name | type | labels | tells |', '| --- | --- | --- | --- |', ...metrics.map(lineOf)].join('\n');

const lineOf = ({ name, type, help, labels, buckets }: DescribedMetric): string =>
  `| \`${name}\` | ${type} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${cell(help)}${buckets.length === 0 ? '' : ` Buckets from ${buckets[0]} to ${buckets.at(-1)}.`} |`;

const cell = (text: string): string => (text.endsWith('.') ? text : `${text}.`).replaceAll('|', '\\|').replaceAll('<', '&lt;');
