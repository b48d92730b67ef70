import type { JobLine } from '../views.ts';
import { csvField } from './words.ts';

const FIELDS = [
  'key',
  'kind',
  'uid',
  'state',
  'reason',
  'why',
  'queue',
  'clusterQueue',
  'cluster',
  'user',
  'createdMs',
  'admittedMs',
  'startedMs',
  'endedMs',
  'completions',
  'active',
  'succeeded',
  'failed',
] as const;

export type ExportForm = 'csv' | 'json';

/** Jobs as a file: as CSV with a line of names (RFC 4180), or as JSON. */
export function exported(jobs: readonly JobLine[], form: ExportForm): string {
  if (form === 'json') return `${JSON.stringify(jobs, undefined, 2)}\n`;
  return [FIELDS.join(','), ...jobs.map((job) => FIELDS.map((field) => csvField(job[field])).join(',')), ''].join('\r\n');
}
