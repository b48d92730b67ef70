import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import type { JobState } from '../job-row.ts';

/** A Job or JobSet of examples/, how it goes in and how it is expected to end. */
export type Example = {
  readonly name: string;
  readonly file: string;
  /** Absent: a Job. */
  readonly kind?: 'JobSet';
  readonly through: 'API' | 'BullMQ';
  readonly ends: JobState;
  readonly reason?: string;
  /** Pods; of a JobSet, child Jobs. */
  readonly succeeded: number;
};

/** In the order of submission: the last one finds the quota taken by the others. */
export const EXAMPLES: readonly Example[] = [
  { name: 'pi', file: 'pi.yaml', through: 'API', ends: 'Complete', succeeded: 4 },
  { name: 'word-count', file: 'word-count.yaml', through: 'BullMQ', ends: 'Complete', succeeded: 6 },
  { name: 'retry', file: 'retry.yaml', through: 'API', ends: 'Complete', succeeded: 1 },
  { name: 'failure-policy', file: 'failure-policy.yaml', through: 'BullMQ', ends: 'Failed', reason: 'PodFailurePolicy', succeeded: 0 },
  { name: 'waiting', file: 'waiting.yaml', through: 'API', ends: 'Complete', succeeded: 1 },
];

/** With `--kinds`, after the others. */
export const JOB_SET_EXAMPLE = {
  name: 'primes',
  file: 'jobset.yaml',
  kind: 'JobSet',
  through: 'API',
  ends: 'Complete',
  succeeded: 3,
} as const satisfies Example;

export const readExample = (directory: string, example: Example): unknown =>
  parse(readFileSync(path.join(directory, example.file), 'utf8'));
