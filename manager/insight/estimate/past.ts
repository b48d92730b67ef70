import type { DeepReadonly, WorkObject } from '../../../shared/api/kubernetes.ts';
import { keyOfObject } from '../../../shared/kube/keys.ts';
import { writtenRecordOf } from '../../api/records.ts';
import type { Past } from './run-time-sampler.ts';
import { createRunTimes, runFactsOf, runOf } from './run-times.ts';
import type { WorkKind } from '../../work-kind/work-kind.ts';

/** Run times from these Jobs, according to the records that they carry, trusted or not. */
export function pastOf(kind: WorkKind, jobs: readonly DeepReadonly<WorkObject>[]): Past {
  const runTimes = createRunTimes();
  const byKey = new Map(jobs.map((job) => [keyOfObject(job), job]));
  const runs = jobs.flatMap((job) => {
    const written = writtenRecordOf(job);
    return (written.kind === 'Record' ? runOf(kind, job, written.record) : undefined) ?? [];
  });
  for (const run of runs.toSorted((a, b) => a.endedMs - b.endedMs)) runTimes.observe(run);
  return {
    runTimes,
    factsOf: (key) => {
      const job = byKey.get(key);
      return job && runFactsOf(kind, job);
    },
  };
}
