import type { AdmissionMetrics } from './admission-metrics.ts';
import { UntrustedReason, type Workload } from '../workload/workload.ts';

/** Counts records that admission has not made, each once, and the Jobs that carry one now. */
export interface UntrustedCount {
  /** Observes a Workload and the text of its record. */
  observe(workload: Pick<Workload, 'key' | 'untrusted'>, text: string | undefined): void;
  forget(key: string): void;
}

export function createUntrustedCount({
  untrustedRecords,
  untrustedJobs,
}: Pick<AdmissionMetrics, 'untrustedRecords' | 'untrustedJobs'>): UntrustedCount {
  const known = new Map<string, { readonly reason: UntrustedReason; readonly text: string | undefined }>();
  // Series start at 0, because a series that begins with its first problem shows no increase.
  for (const reason of Object.values(UntrustedReason)) {
    untrustedRecords.inc({ reason }, 0);
    untrustedJobs.set({ reason }, 0);
  }
  const forget = (key: string): void => {
    const before = known.get(key);
    if (before === undefined) return;
    known.delete(key);
    untrustedJobs.dec({ reason: before.reason });
  };
  return {
    observe: ({ key, untrusted }, text) => {
      const before = known.get(key);
      if (before?.reason === untrusted?.reason && (untrusted === undefined || before?.text === text)) return;
      forget(key);
      if (untrusted === undefined) return;
      const { reason } = untrusted;
      known.set(key, { reason, text });
      untrustedJobs.inc({ reason });
      untrustedRecords.inc({ reason });
    },
    forget,
  };
}
