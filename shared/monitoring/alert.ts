/** An alert as the charts and the runbooks have it. */
export type Alert = {
  /** Also the name of its page in docs/runbooks. */
  readonly name: `Switchyard${string}`;
  /** Whose chart brings it. */
  readonly program: Program;
  /** critical: somebody gets up. warning: somebody looks today. */
  readonly severity: 'critical' | 'warning';
  /** How long it must hold before anybody is told, as Prometheus writes durations. */
  readonly for: string;
  /** Numbers and durations of the expression, which a chart value may replace; `$name` stands for them in the texts. */
  readonly thresholds: Readonly<Record<string, number | string>>;
  /** PromQL. `$job` stands for a regular expression of the scrape jobs of the program. */
  readonly expr: string;
  /** What is wrong, in one line. Templates of Prometheus: labels that the expression leaves over, and `$value`. */
  readonly summary: string;
  /** With the numbers. */
  readonly description: string;
};
export type Program = 'manager' | 'worker';

/** What a chart value may say of an alert. */
export type AlertSettings = {
  readonly enabled?: boolean;
  readonly for?: string;
  readonly severity?: string;
  readonly thresholds?: Readonly<Record<string, number | string>>;
};

export type Rule = {
  readonly alert: string;
  readonly expr: string;
  readonly for: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
};

/** Where pages are when nobody says something else. */
export const RUNBOOK_URL = 'https://github.com/switchyard/switchyard/blob/main/docs/runbooks';

/** The rule that Prometheus reads. The template of the charts does the same, which a test compares. */
export function ruleOf(alert: Alert, job: string, settings: AlertSettings = {}, runbookUrl: string = RUNBOOK_URL): Rule {
  const waits = settings.for ?? alert.for;
  const values = { ...alert.thresholds, ...settings.thresholds, job, for: waits };
  const filled = (text: string): string =>
    Object.entries(values).reduce((sum, [name, value]) => sum.replaceAll(`$${name}`, String(value)), text);
  return {
    alert: alert.name,
    expr: filled(alert.expr),
    for: waits,
    labels: { severity: settings.severity ?? alert.severity },
    annotations: {
      summary: filled(alert.summary),
      description: filled(alert.description),
      runbook_url: `${runbookUrl}/${alert.name}.md`,
    },
  };
}

/** A rules file of Prometheus. `jobs` are regular expressions. */
export function ruleFile(alerts: readonly Alert[], jobs: Readonly<Record<Program, string>>): { readonly groups: readonly RuleGroup[] } {
  const programs = [...new Set(alerts.map(({ program }) => program))];
  return {
    groups: programs.map((program) => ({
      name: `switchyard-${program}`,
      rules: alerts.filter((alert) => alert.program === program).map((alert) => ruleOf(alert, jobs[program])),
    })),
  };
}
export type RuleGroup = { readonly name: string; readonly rules: readonly Rule[] };
