import type { Alert } from './alert.ts';

/** docs/runbooks/README.md: every alert in a table, and what its numbers are. */
export function runbookIndex(alerts: readonly Alert[]): string {
  const rows = alerts.toSorted((a, b) => a.name.localeCompare(b.name)).map(rowOf);
  return `# Runbooks

<!-- Written by scripts/generate-monitoring.ts from shared/monitoring. -->

Each alert has a page, which begins with the three commands to run. Replace words in capitals: for example, replace \`CLUSTER\` with the
label \`cluster\` of the alert. To set up alerts, see [monitoring](../monitoring.md). \`critical\` pages the engineer on call; \`warning\` is for
working hours of the same day.

| alert | severity | after | thresholds | of |
| --- | --- | --- | --- | --- |
${rows.join('\n')}
`;
}

function rowOf({ name, severity, for: waits, thresholds, program }: Alert): string {
  const numbers = Object.entries(thresholds).map(([key, value]) => `\`${key}\` ${value}`);
  return `| [${name}](${name}.md) | ${severity} | ${waits} | ${numbers.join(', ')} | ${program} |`;
}
