/** Lines for tests of the dashboard. */
import type { JobLine } from '../../../../manager/dashboard/views.ts';

export const aLine = (parts: Partial<JobLine> & { readonly key: string }): JobLine => ({
  uid: `uid-${parts.key}`,
  state: 'Waiting',
  queue: 'main',
  createdMs: 0,
  completions: 1,
  active: 0,
  succeeded: 0,
  failed: 0,
  ...parts,
});
