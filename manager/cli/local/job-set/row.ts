import type { DeepReadonly, Job } from '../../../../shared/api/kubernetes.ts';
import { toWireTime } from '../../../../shared/api/wire-time.ts';
import { jobRow, type JobRow } from '../../job-row.ts';
import type { JobSet } from './definition.ts';

/** A JobSet on the manager cluster as a row among Jobs. Its numbers are those of its child Jobs; it has started when one of them has. */
export function jobSetRow({ metadata, spec, status }: DeepReadonly<JobSet>, nowMillis: number): JobRow {
  const { suspend = false } = spec;
  const sum = (field: 'active' | 'ready' | 'succeeded' | 'failed'): number =>
    (status?.replicatedJobsStatus ?? []).reduce((all, each) => all + each[field], 0);
  const counts = { active: sum('active'), succeeded: sum('succeeded'), failed: sum('failed') };
  const hasStarted = counts.active + sum('ready') + counts.succeeded + counts.failed > 0;
  const like = {
    metadata,
    spec: { suspend },
    status: { ...counts, conditions: status?.conditions ?? [], ...(hasStarted ? { startTime: toWireTime(nowMillis) } : {}) },
  };
  return jobRow(like as DeepReadonly<Job>);
}
