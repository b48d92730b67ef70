import type { DeepReadonly, Job, ObjectKey } from '../../shared/api/kubernetes.ts';
import { FinalCode } from '../../shared/api/submission-codes.ts';
import { ApiError, isConflict, isNotFound } from '../../shared/kube/api-error.ts';
import type { WriteClient } from '../../shared/kube/client.ts';
import { runController, type ReconcileResult } from '../../shared/kube/controller.ts';
import type { Informer } from '../../shared/kube/informer.ts';
import { formatKey, keyOfObject, objectKey, parseKey } from '../../shared/kube/keys.ts';
import { createWorkqueue } from '../../shared/kube/workqueue.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { onAbort } from '../../shared/runtime/tasks.ts';
import type { RecordKeys } from '../api/record-seal.ts';
import type { SubmissionMetrics } from './submission-metrics.ts';
import type { SubmissionLedger } from './ledger-store.ts';
import { submissionOf } from './outcome.ts';
import { isSealedSubmission } from './submission-seal.ts';
import { ImpersonationRefused } from './tenant-client.ts';
import type { Tenant } from './tenant.ts';
import type { WorkKind } from '../work-kind/work-kind.ts';

export type WithdrawnJobsDeps = {
  readonly kind: WorkKind;
  readonly jobs: Informer<Job>;
  readonly ledger: SubmissionLedger;
  /** By id, those whose queues are served now. */
  readonly tenants: () => ReadonlyMap<string, Tenant>;
  /** Deletes Jobs as the ServiceAccount of the tenant, where it has one. */
  readonly clientFor: (tenant: Tenant) => Pick<WriteClient, 'delete'>;
  /** Tell which Jobs the manager made of submissions. */
  readonly keys: RecordKeys;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<SubmissionMetrics, 'workqueues'>;
};

/** A Job that goes because its submission was cancelled or removed, or could never be admitted. */
export type WithdrawnJob = { readonly tenant: string; readonly job: ObjectKey; readonly uid: string };

/**
 * Deletes Jobs of submissions that have ended before their Jobs have, as the ServiceAccounts that created them. That a submission has ended
 * so is in the ledger first; a leader that dies between the two leaves the deletion to the next one, which finds the Job and its entry. A
 * deletion that is refused is tried again for as long as the Job is there, every five minutes at last, and told in the status of the
 * SubmissionQueue.
 */
export interface WithdrawnJobs {
  /** Returns at once. A Job that is gone, or another of its name, is left alone. */
  withdraw(job: WithdrawnJob): void;
  /** Why Jobs of a tenant cannot be deleted, with the remedy; undefined: nothing is known to be in the way. */
  problem(tenant: string): string | undefined;
  run(signal: AbortSignal): Promise<void>;
}

const CONCURRENCY = 8;
const RETRY_MIN_MS = 1_000;
const RETRY_MAX_MS = 300_000;

/** Call before the informer runs. */
export function createWithdrawnJobs({
  kind,
  jobs,
  ledger,
  tenants,
  clientFor,
  keys,
  clock,
  log,
  metrics,
}: WithdrawnJobsDeps): WithdrawnJobs {
  const queue = createWorkqueue({
    name: 'withdrawn-jobs',
    clock,
    rateLimit: { baseDelayMs: RETRY_MIN_MS, maxDelayMs: RETRY_MAX_MS },
    metrics: metrics.workqueues.of('withdrawn-jobs'),
  });
  /** By `namespace/name`. */
  const pending = new Map<string, WithdrawnJob>();
  const refusals = new Map<string, { readonly tenant: string; readonly message: string }>();
  let leading = false;

  function withdraw(withdrawn: WithdrawnJob): void {
    // Without a UID the API server deletes whatever has the name.
    if (typeof withdrawn.uid !== 'string' || withdrawn.uid === '') throw new Error('a Job without a UID is not withdrawn');
    const key = formatKey(withdrawn.job);
    pending.set(key, withdrawn);
    queue.add(key);
  }

  /** Of an earlier leader, or of a time when the Job was in no cache. */
  function seen(job: DeepReadonly<Job>): void {
    const { uid, deletionTimestamp } = job.metadata;
    const of = deletionTimestamp === undefined ? submissionOf(job) : undefined;
    if (of === undefined || !isSealedSubmission(keys, job, of)) return;
    const entry = ledger.of(of.tenant).get(of.key);
    if (entry?.state !== 'Ended' || entry.uid !== uid || entry.outcome.kind !== 'Failed') return;
    const { reason } = entry.outcome.failure;
    if (reason === FinalCode.Cancelled || reason === FinalCode.Rejected) withdraw({ tenant: of.tenant, job: objectKey(job), uid });
  }
  jobs.addHandler({
    added: (job) => leading && seen(job),
    updated: () => undefined,
    deleted: (job) => pending.get(keyOfObject(job))?.uid === job.metadata.uid && done(keyOfObject(job)),
  });

  function done(key: string): void {
    pending.delete(key);
    refusals.delete(key);
    queue.forget(key);
  }

  async function reconcile(key: string): Promise<ReconcileResult> {
    const withdrawn = pending.get(key);
    if (withdrawn === undefined) return undefined;
    const { tenant: id, uid } = withdrawn;
    const tenant = tenants().get(id);
    // Its SubmissionQueue is gone, or is not served: there is nobody as whom the Job could be deleted.
    if (tenant === undefined) return { requeueAfterMs: RETRY_MAX_MS };
    try {
      await clientFor(tenant).delete(kind.resource, parseKey(key), { uid, propagationPolicy: 'Background' });
    } catch (error) {
      if (!isNotFound(error) && !isConflict(error)) {
        const message = refusalOf(error, tenant, withdrawn.job);
        if (message !== undefined) refusals.set(key, { tenant: id, message });
        throw new Error(`delete the Job ${key} of a submission that has ended`, { cause: error });
      }
    }
    // A later one of this name may have come meanwhile.
    if (pending.get(key) === withdrawn) done(key);
    return undefined;
  }

  return {
    withdraw,
    problem(tenant) {
      const ofTenant = [...refusals.values()].filter((each) => each.tenant === tenant);
      const [first] = ofTenant;
      return first && `${ofTenant.length} of the Jobs whose submissions have ended cannot be deleted: ${first.message}`;
    },
    async run(signal) {
      onAbort(signal, () => queue.shutDown());
      await ledger.loaded(signal);
      if (signal.aborted) return;
      leading = true;
      for (const job of jobs.list()) seen(job);
      await runController({ name: 'withdrawn-jobs', queue, concurrency: CONCURRENCY, reconcile, log });
    },
  };
}

/** Undefined where the server said no for another reason than rights, or nothing at all: that passes. */
function refusalOf(error: unknown, { as }: Tenant, job: ObjectKey): string | undefined {
  if (error instanceof ImpersonationRefused) return error.message;
  if (!(error instanceof ApiError) || error.code !== 403) return undefined;
  const who = as === undefined ? 'the manager' : `the ServiceAccount ${as.namespace}/${as.name}`;
  return `${error.message}; let ${who} delete Jobs in the namespace ${job.namespace}`;
}
