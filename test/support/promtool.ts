/** Alerts played with Prometheus' own test program: series go in, and what fires comes out. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { stringify } from 'yaml';
import type { RuleGroup } from '../../shared/monitoring/alert.ts';

/** Why promtool cannot be used here; undefined when it can. */
export function promtoolProblem(): string | undefined {
  const { error, status } = spawnSync('promtool', ['--version'], { stdio: 'ignore' });
  return error === undefined && status === 0 ? undefined : 'there is no promtool: apt-get install prometheus';
}

/** A world over time, and what is to be heard of it. */
export type Situation = {
  readonly name: string;
  /** By series, their samples of every minute in promtool's notation (`0+1x60`, `_`). */
  readonly series: Readonly<Record<string, string>>;
  /** When it is looked at, such as `30m`. */
  readonly at: string;
  readonly fires: readonly Firing[];
};
export type Firing = {
  readonly alert: string;
  readonly labels?: Readonly<Record<string, string>>;
  readonly summary: string;
  readonly description: string;
};

/** What promtool says is otherwise than each situation has it, by its name. All are played in one process. */
export function playSituations(groups: readonly RuleGroup[], situations: readonly Situation[]): ReadonlyMap<string, string> {
  const folder = mkdtempSync(path.join(tmpdir(), 'switchyard-alerts-'));
  try {
    writeFileSync(path.join(folder, 'rules.yaml'), stringify({ groups }));
    const rules = new Map(groups.flatMap((group) => group.rules.map((rule) => [rule.alert, rule])));
    const files = situations.map((situation, index) => {
      const file = path.join(folder, `${index}.yaml`);
      writeFileSync(file, stringify(testFile(situation, rules)));
      return file;
    });
    // It names each file, and then says SUCCESS, or on the other stream FAILED with what was otherwise.
    const { stdout } = spawnSync('/bin/sh', ['-c', 'exec promtool test rules "$@" 2>&1', 'promtool', ...files], {
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    });
    const told = new Map(stdout.split(/^Unit Testing: +/m).map((part) => [path.basename(part.split('\n', 1)[0] ?? '', '.yaml'), part]));
    return new Map(
      situations.flatMap(({ name }, index) => {
        const said = told.get(String(index)) ?? `promtool said nothing of it:\n${stdout}`;
        return said.includes('SUCCESS') ? [] : [[name, said]];
      }),
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function testFile({ series, at, fires }: Situation, rules: ReadonlyMap<string, RuleGroup['rules'][number]>): object {
  const names = [...new Set(fires.map(({ alert }) => alert))];
  return {
    rule_files: ['rules.yaml'],
    evaluation_interval: '1m',
    tests: [
      {
        interval: '1m',
        input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
        alert_rule_test: names.map((alertname) => ({
          eval_time: at,
          alertname,
          exp_alerts: fires
            .filter(({ alert }) => alert === alertname)
            .map(({ labels, summary, description }) => ({
              exp_labels: { ...rules.get(alertname)?.labels, ...labels },
              exp_annotations: { summary, description, runbook_url: rules.get(alertname)?.annotations['runbook_url'] },
            })),
        })),
        promql_expr_test: [
          {
            expr: 'group by (alertname) (ALERTS{alertstate="firing"})',
            eval_time: at,
            exp_samples: names.map((name) => ({ labels: `{alertname="${name}"}`, value: 1 })),
          },
        ],
      },
    ],
  };
}
