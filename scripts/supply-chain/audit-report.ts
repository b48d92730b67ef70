/** What an audit found out: nothing when the registry gave no answer. */
export type AuditReport =
  | { readonly kind: 'Unanswered'; readonly why: string }
  | {
      readonly kind: 'Answered' /** One line for each package with a finding of the level. */;
      readonly findings: readonly string[];
      readonly others: number;
    };

const LEVELS = ['critical', 'high'];

type Vulnerability = {
  readonly name?: string;
  readonly severity?: string;
  readonly range?: string;
  readonly via?: readonly (string | { readonly title?: string; readonly url?: string })[];
};

/** Reads what `npm audit --json` printed. Findings below `high` are counted, not listed. */
export function readAudit(output: string): AuditReport {
  const report = parse(output);
  if (report === undefined) return { kind: 'Unanswered', why: 'npm printed no report' };
  const { vulnerabilities } = report as { vulnerabilities?: Record<string, Vulnerability> };
  if (vulnerabilities === undefined) {
    const { message, error } = report as { message?: string; error?: { summary?: string } };
    return { kind: 'Unanswered', why: message || error?.summary || 'the report has no findings and no message' };
  }
  const all = Object.entries(vulnerabilities);
  const serious = all.filter(([, { severity = '' }]) => LEVELS.includes(severity));
  return {
    kind: 'Answered',
    findings: serious.map(([name, { severity, range = '', via = [] }]) => `${severity}: ${name} ${range}: ${reasons(via)}`),
    others: all.length - serious.length,
  };
}

const reasons = (via: NonNullable<Vulnerability['via']>): string =>
  via.map((each) => (typeof each === 'string' ? `through ${each}` : [each.title, each.url].filter(Boolean).join(' '))).join('; ');

function parse(output: string): object | undefined {
  try {
    const value: unknown = JSON.parse(output);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined; // no JSON is no report, which the caller says
  }
}
