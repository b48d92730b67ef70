import { createTokenBucket } from '../../shared/kube/token-bucket.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { auditLine, type AuditEntry } from './audit-line.ts';

/** Where lines go. `write` answers at once, false where the line is dropped. */
export type AuditSink = { readonly write: (line: string) => boolean };
/** Counts lines that the audit log misses: `slow`, its sink takes no more; `anonymous`, too many callers that are not known. */
export type DroppedCounter = { inc(labels: { readonly reason: 'slow' | 'anonymous' }): void };

/** Who did what, for those who have to answer for it. Never waits and never throws. */
export interface AuditLog {
  note(entry: AuditEntry): void;
  /** Counts on this what is dropped from now on. */
  countDropped(counter: DroppedCounter): void;
}

/** Of callers without a good token: a flood of them must not fill a disk, nor push out the lines of others. */
const ANONYMOUS = { qps: 10, burst: 100 };

export function createAuditLog({ sink, clock }: { readonly sink: AuditSink; readonly clock: Pick<Clock, 'now'> }): AuditLog {
  const anonymous = createTokenBucket({ ...ANONYMOUS, clock });
  let dropped: DroppedCounter | undefined;
  return {
    note(entry) {
      if (entry.user === undefined && !anonymous.take()) dropped?.inc({ reason: 'anonymous' });
      else if (!sink.write(auditLine(entry, clock.now()))) dropped?.inc({ reason: 'slow' });
    },
    countDropped(counter) {
      dropped = counter;
    },
  };
}
