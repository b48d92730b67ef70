import { spawnSync } from 'node:child_process';
import type { Dashboard } from '../../shared/monitoring/dashboards/dashboard.ts';

/** Why Prometheus cannot be used here; undefined when it can. */
export function prometheusProblem(): string | undefined {
  const { error, status } = spawnSync('prometheus', ['--version'], { stdio: 'ignore' });
  return error === undefined && status === 0 ? undefined : 'there is no prometheus: apt-get install prometheus';
}

export type Sample = { readonly labels: Readonly<Record<string, string>>; readonly value: number };
export type JudgedRule = { readonly name: string; readonly health: string; readonly state: string; readonly lastError?: string };

/** What a running Prometheus is asked. */
export interface Prometheus {
  query(expr: string): Promise<readonly Sample[]>;
  /** Resolves when it answers so; throws with what it answered last when that takes too long. */
  becomes(expr: string, wanted: number): Promise<void>;
  /** As Grafana asks it: with all of each variable, over the last minutes. */
  ofDashboard(dashboard: Dashboard, expr: string): Promise<readonly Sample[]>;
  rules(): Promise<readonly JudgedRule[]>;
}

const WITHIN_MS = 60_000;
const SCRAPED_EVERY_MS = 1_000;
/** Longer than a run has lasted. */
const WINDOW = '10m';

export function createPrometheus(url: string): Prometheus {
  const get = async (path: string, parameters: Readonly<Record<string, string>> = {}): Promise<unknown> => {
    const response = await fetch(`${url}/api/v1/${path}?${new URLSearchParams(parameters).toString()}`);
    const answer = (await response.json()) as { status: string; error?: string; data: unknown };
    if (answer.status !== 'success') throw new Error(`${parameters['query'] ?? path}: ${answer.error}`);
    return answer.data;
  };
  const query = async (expr: string): Promise<readonly Sample[]> => {
    const { result } = (await get('query', { query: expr })) as { result: { metric: Record<string, string>; value: [number, string] }[] };
    return result.map(({ metric, value: [, value] }) => ({ labels: metric, value: Number(value) }));
  };
  return {
    query,
    async becomes(expr, wanted) {
      const deadlineMillis = Date.now() + WITHIN_MS;
      for (let last: number | undefined; (last = (await query(expr))[0]?.value) !== wanted; ) {
        if (Date.now() > deadlineMillis) throw new Error(`${expr} is ${last}, and never was ${wanted}`);
        await new Promise((resolve) => setTimeout(resolve, SCRAPED_EVERY_MS));
      }
    },
    async ofDashboard({ variables }, expr) {
      let filled = expr.replaceAll('$__rate_interval', WINDOW).replaceAll('$__range', WINDOW);
      // Those whose names begin with another's come first.
      for (const { name, label, metric } of variables.toSorted((a, b) => b.name.length - a.name.length)) {
        const values = (await get(`label/${label}/values`, { 'match[]': metric })) as string[];
        filled = filled.replaceAll(`$${name}`, `(${values.join('|')})`);
      }
      return query(filled);
    },
    async rules() {
      const { groups } = (await get('rules')) as { groups: { rules: JudgedRule[] }[] };
      return groups.flatMap(({ rules }) => rules);
    },
  };
}
