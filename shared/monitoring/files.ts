import { stringify } from 'yaml';
import { ALERTS } from './alerts.ts';
import type { Program } from './alert.ts';
import { DASHBOARDS } from './dashboards/dashboards.ts';
import { grafanaDashboard } from './dashboards/grafana.ts';
import { runbookIndex } from './runbook-index.ts';

const WRITTEN = '# Written by scripts/generate-monitoring.ts from shared/monitoring.\n';

/** All that is generated, by its path in the repository. */
export function monitoringFiles(): ReadonlyMap<string, string> {
  return new Map([
    ['charts/switchyard-manager/files/alerts.yaml', alertFile('manager')],
    ['charts/switchyard-worker/files/alerts.yaml', alertFile('worker')],
    ['docs/runbooks/README.md', runbookIndex(ALERTS)],
    ...DASHBOARDS.map((dashboard) => [dashboardFile(dashboard.uid), `${JSON.stringify(grafanaDashboard(dashboard), null, 2)}\n`] as const),
  ]);
}

/** The alerts of a chart, whose template fills in its values. */
const alertFile = (program: Program): string =>
  `${WRITTEN}${stringify(
    ALERTS.filter((alert) => alert.program === program).map(({ program: _program, ...alert }) => alert),
    { lineWidth: 0 },
  )}`;

const dashboardFile = (uid: string): string => `charts/switchyard-manager/files/dashboards/${uid}.json`;
