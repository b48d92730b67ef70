import type { Alert } from './alert.ts';

/** docs/runbooks/README.md: every alert in a table, and what its numbers are. */
export function runbookIndex(alerts: readonly Alert[]): string {
  const rows = alerts.toSorted((a, b) => a.name.localeCompare(b.name)).map(rowOf);
  return `# Runbooks

<!-- Written by scripts/generate-monitoring.ts from shared/monitoring. -->

A page for each alert. It begins with the three commands to type; words in capitals are to be replaced, \`CLUSTER\` by the label \`cluster\` of the alert and so on. Whoever has not set up
anything yet reads [monitoring](../monitoring.md). Critical means that somebody gets up; warning, that somebody looks today.

| alert | severity | after | numbers | of |
| --- | --- | --- | --- | --- |
${rows.join('\n')}
`;
}

function rowOf({ name, severity, for: waits, thresholds, program }: Alert): string {
  const numbers = Object.entries(thresholds).map(([key, value]) => `\`${key}\` ${value}`);
  return `| [${name}](${name}.md) | ${severity} | ${waits} | ${numbers.join(', ')} | ${program} |`;
}
