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
  const rules = new Map(groups.flatMap((group) => group.rules.map((rule) => [rule.alert, rule])));
  return play(
    { 'rules.yaml': { groups } },
    situations.map((situation) => ({ name: situation.name, file: testFile(situation, rules) })),
  );
}

/** A query over series, and the one value that it gives. */
export type Reading = {
  readonly name: string;
  readonly series: Readonly<Record<string, string>>;
  readonly expr: string;
  readonly at: string;
  readonly value: number;
};

/** What promtool says is otherwise than each reading has it, by its name. */
export const playReadings = (readings: readonly Reading[]): ReadonlyMap<string, string> =>
  play(
    {},
    readings.map(({ name, series, expr, at, value }) => ({
      name,
      file: {
        evaluation_interval: '1m',
        tests: [
          {
            interval: '1m',
            input_series: Object.entries(series).map(([each, values]) => ({ series: each, values })),
            promql_expr_test: [{ expr, eval_time: at, exp_samples: [{ labels: '{}', value }] }],
          },
        ],
      },
    })),
  );

/** Series over time, and of one alert when it is heard and when not, in minutes. */
export type Hearing = {
  readonly name: string;
  readonly alert: string;
  readonly series: Readonly<Record<string, string>>;
  readonly heardAt: readonly number[];
  readonly silentAt: readonly number[];
};

/** The same of these, each with the rule of its alert alone. */
export function playHearings(groups: readonly RuleGroup[], hearings: readonly Hearing[]): ReadonlyMap<string, string> {
  const ruleOf = (alert: string): RuleGroup[] => [
    { name: alert, rules: groups.flatMap(({ rules }) => rules.filter((rule) => rule.alert === alert)) },
  ];
  return play(
    Object.fromEntries(hearings.map(({ alert }) => [`${alert}.yaml`, { groups: ruleOf(alert) }])),
    hearings.map(({ name, alert, series, heardAt, silentAt }) => ({
      name,
      file: {
        rule_files: [`${alert}.yaml`],
        evaluation_interval: '1m',
        tests: [
          {
            interval: '1m',
            input_series: Object.entries(series).map(([each, values]) => ({ series: each, values })),
            promql_expr_test: [...heardAt.map((at) => [at, 1] as const), ...silentAt.map((at) => [at, 0] as const)].map(([at, value]) => ({
              expr: 'count(ALERTS{alertstate="firing"}) or vector(0)',
              eval_time: `${at}m`,
              exp_samples: [{ labels: '{}', value }],
            })),
          },
        ],
      },
    })),
  );
}

/** One file for each, and beside them these, by name. */
function play(
  files: Readonly<Record<string, object>>,
  tests: readonly { readonly name: string; readonly file: object }[],
): ReadonlyMap<string, string> {
  const folder = mkdtempSync(path.join(tmpdir(), 'switchyard-alerts-'));
  try {
    for (const [name, content] of Object.entries(files)) writeFileSync(path.join(folder, name), stringify(content));
    const paths = tests.map(({ file }, index) => {
      const name = path.join(folder, `${index}.yaml`);
      writeFileSync(name, stringify(file));
      return name;
    });
    // It names each file, and then says SUCCESS, or on the other stream FAILED with what was otherwise.
    const { stdout } = spawnSync('/bin/sh', ['-c', 'exec promtool test rules "$@" 2>&1', 'promtool', ...paths], {
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
    });
    const told = new Map(stdout.split(/^Unit Testing: +/m).map((part) => [path.basename(part.split('\n', 1)[0] ?? '', '.yaml'), part]));
    return new Map(
      tests.flatMap(({ name }, index) => {
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
