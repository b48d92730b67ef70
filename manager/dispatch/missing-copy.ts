import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import { findCondition } from '../../shared/kube/conditions.ts';
import { isDispatched } from '../api/dispatch-proof.ts';
import { graceSecondsOf } from '../api/fenced-off.ts';
import { DispatchedReason, SwitchyardCondition } from '../api/reasons.ts';
import type { AdmissionRecord } from '../api/records.ts';
import { isProvenAtRest } from '../api/rest-proof.ts';
import { viewOfPlace, type MirrorGroup } from './mirror-group.ts';

/**
 * Whether the copy's name is looked up on the recorded cluster before anything is said of a Job that has no copy in the list there. Copies are listed by a
 * label, which users and webhooks of that cluster can take away: only its name says whether a copy is there. A Job that was never sent anywhere costs no
 * such call, nor does one that is proven to rest.
 */
export function isToBeLookedUp(group: MirrorGroup, local: DeepReadonly<Job>, record: AdmissionRecord): boolean {
  const { contact, absence } = viewOfPlace(group) ?? {};
  if (contact !== 'Ready' || absence === undefined) return false;
  if (absence === 'Unlisted') return true;
  const mayStop = local.metadata.deletionTimestamp !== undefined || local.spec.suspend === true;
  return mayStop ? !isProvenAtRest(local.status, record) : isDispatched(local.status, record);
}

/** A copy that vanished is made again only after this time and the grace period of its pods, so that they have stopped. */
export const COPY_LOST_DELAY_MS = 10_000;

export const lostDelayMs = (local: DeepReadonly<Job>): number => COPY_LOST_DELAY_MS + graceSecondsOf(local) * 1000;

/** For how long a Job that says that its copy is lost goes on waiting; at most 0: it does not. */
export function remainingLostDelayMs(local: DeepReadonly<Job>, nowMs: number): number {
  const present = findCondition(local.status?.conditions, SwitchyardCondition.Dispatched);
  if (present?.reason !== DispatchedReason.CopyLost || present.lastTransitionTime === undefined) return 0;
  return Date.parse(present.lastTransitionTime) + lostDelayMs(local) - nowMs;
}
