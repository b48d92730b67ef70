import type { SubmissionSource } from '../../manager/submission/submissions.ts';
import type { SubmissionQueue } from '../../manager/submission/submission-queue.ts';
import { sharedTenant, type Tenant } from '../../manager/submission/tenant.ts';

/** A tenant as the flags of the manager make one, for Jobs of all namespaces unless `parts` say otherwise. */
export const testTenant = (parts: Partial<Tenant> = {}): Tenant => ({
  ...sharedTenant({ prefix: 'bull', queue: 'q' }, { namespaces: '*', bytesMax: 512 * 1024 }),
  ...parts,
});

/** The one queue of a manager, which stays open when the manager ends. */
export function sourceOf(queue: SubmissionQueue, parts: Partial<Tenant> = {}): SubmissionSource {
  const kept: SubmissionQueue = {
    consume: (...asked) => queue.consume(...asked),
    finish: (ref, outcome, uid) => queue.finish(ref, outcome, uid),
    report: (ref, progress) => queue.report(ref, progress),
    parked: () => queue.parked(),
    close: async () => undefined,
  };
  return { shared: testTenant(parts), connect: () => kept };
}
