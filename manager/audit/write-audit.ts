import type { DeepReadonly, WorkObject } from '../../shared/api/kubernetes.ts';
import type { KubeUser } from '../../shared/kube/access-reviews.ts';
import type { Lister } from '../../shared/kube/indexer.ts';
import type { EventHandler } from '../../shared/kube/informer.ts';
import { objectKey } from '../../shared/kube/keys.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import type { WorkKind } from '../work-kind/work-kind.ts';
import type { AuditLog } from './audit-log.ts';
import { changeInWords, jobChanges, type JobChange } from './job-changes.ts';

/** A write of a Job that the webhook lets pass. */
export type PassedWrite = {
  readonly user: KubeUser;
  readonly job: DeepReadonly<WorkObject>;
  readonly oldJob: DeepReadonly<WorkObject>;
  /** From which the webhook was asked. */
  readonly address: string | undefined;
};

/** Notes in the audit log which user held, released, suspended or moved a Job by a write of the Job itself. */
export interface WriteAudit {
  passed(write: PassedWrite): void;
  readonly handler: EventHandler<WorkObject>;
}

export type WriteAuditDeps = {
  readonly kind: WorkKind;
  readonly log: Pick<AuditLog, 'note'>;
  readonly jobs: Pick<Lister<WorkObject>, 'get'>;
  readonly clock: Pick<Clock, 'monotonic'>;
};

type Claim = {
  readonly user: KubeUser;
  readonly address: string | undefined;
  readonly from: string | undefined;
  readonly untilMs: number;
  /** In words: what of it has not been seen stored. */
  readonly open: Set<string>;
};

/** An API server stores what passes within its time for one request, and a watch tells so soon after. */
const CLAIM_MS = 60_000;
const JOBS_MAX = 10_000;
const CLAIMS_PER_JOB_MAX = 8;

/**
 * The webhook hears who writes, and whoever reaches its port may claim to be anybody; nor is everything stored that passes. So a write is
 * noted once the watch shows the Job with it. Several users who claim the same change are noted all, as of an outcome that is not known: of
 * those that ask for the version that was changed, if there are any. Add the handler before the informer runs.
 */
export function createWriteAudit({ kind, log, jobs, clock }: WriteAuditDeps): WriteAudit {
  /** Claims by UID of the Job; the Job that was claimed last is at the end. */
  const claims = new Map<string, Claim[]>();

  function forgetOld(nowMs: number): void {
    for (const [uid, of] of claims) {
      if (claims.size <= JOBS_MAX && (of.at(-1)?.untilMs ?? 0) > nowMs) return;
      claims.delete(uid);
    }
  }

  function note(job: DeepReadonly<WorkObject>, change: JobChange, { user, address }: Claim, isContested: boolean): void {
    const { namespace, name, uid } = job.metadata;
    log.note({
      user,
      what: change.what,
      ...omitUndefined({ value: change.value }),
      on: { kind: 'Job', namespace, name, uid },
      from: { door: 'webhook', address },
      ...(isContested ? { reason: 'several users asked for it; the audit log of the API server has the one whose write was stored' } : {}),
      outcome: isContested ? 'Failed' : 'Done',
    });
  }

  return {
    passed({ user, job, oldJob, address }) {
      const { uid, resourceVersion } = oldJob.metadata;
      const open = new Set(jobChanges(kind, oldJob, job).map(changeInWords));
      if (open.size === 0 || jobs.get(objectKey(oldJob))?.metadata.uid !== uid) return;
      const earlier = claims.get(uid) ?? [];
      claims.delete(uid);
      const claim: Claim = { user, address, from: resourceVersion, untilMs: clock.monotonic() + CLAIM_MS, open };
      claims.set(uid, [...earlier, claim].slice(-CLAIMS_PER_JOB_MAX));
      forgetOld(clock.monotonic());
    },
    handler: {
      updated(next, previous) {
        const { uid } = next.metadata;
        const of = claims.get(uid)?.filter(({ untilMs }) => untilMs > clock.monotonic());
        if (of === undefined) return;
        for (const change of jobChanges(kind, previous, next)) {
          const words = changeInWords(change);
          const asked = of.filter(({ open }) => open.has(words));
          const exact = asked.filter(({ from }) => from === previous.metadata.resourceVersion);
          const byUser = new Map((exact.length > 0 ? exact : asked).map((claim) => [claim.user.username, claim]));
          for (const claim of byUser.values()) note(next, change, claim, byUser.size > 1);
          for (const { open } of asked) open.delete(words);
        }
        const left = of.filter(({ open }) => open.size > 0);
        if (left.length === 0) claims.delete(uid);
        else claims.set(uid, left);
      },
      deleted: ({ metadata: { uid } }) => void claims.delete(uid),
    },
  };
}
