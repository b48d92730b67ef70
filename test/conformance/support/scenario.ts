import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** A recorded situation: a Job, what is done to it and its pods, and what a Kubernetes v1.36 cluster showed after each step. */
export type Scenario = {
  readonly name: string;
  readonly about: string;
  readonly job: { readonly metadata?: Record<string, unknown>; readonly spec: Record<string, unknown> };
  readonly steps: readonly Step[];
  readonly expect: Outcome;
};

export type Step = {
  readonly do: string;
  readonly note?: string;
  /** Do not wait for rest after this step, and record nothing. */
  readonly settle?: boolean;
  /** Record the pods in full. */
  readonly detail?: boolean;
  readonly where?: PodFilter;
  readonly count?: number;
  readonly optional?: boolean;
  readonly seconds?: number;
  readonly restarts?: number;
  readonly exitCode?: number;
  readonly container?: string;
  readonly reason?: string;
  readonly conditions?: readonly Record<string, unknown>[];
  readonly grace?: number;
  readonly labels?: Record<string, string | null>;
  readonly patch?: object;
  readonly status?: object;
  readonly propagation?: 'Background' | 'Foreground' | 'Orphan';
  readonly pod?: Record<string, unknown>;
  readonly job?: Scenario['job'];
};

export type PodFilter = {
  readonly phase?: string;
  readonly index?: number | readonly number[];
  readonly bound?: boolean;
  readonly terminating?: boolean;
  readonly tracked?: boolean;
  readonly ready?: boolean;
};

export type Outcome = { readonly observed: readonly object[]; readonly events: Readonly<Record<string, number>>; readonly error?: string };

const FOLDER = path.join(import.meta.dirname, '..', 'job-scenarios');

export const loadScenarios = (): Scenario[] =>
  readdirSync(FOLDER)
    .filter((name) => name.endsWith('.json'))
    .toSorted()
    .map((name) => JSON.parse(readFileSync(path.join(FOLDER, name), 'utf8')) as Scenario);
