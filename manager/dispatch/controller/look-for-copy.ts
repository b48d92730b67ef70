import type { DeepReadonly, Unsaved, WorkObject } from '../../../shared/api/kubernetes.ts';
import { ORIGIN_LABEL } from '../../../shared/api/names.ts';
import { isPodName, parseKey } from '../../../shared/kube/keys.ts';
import { DispatchedReason } from '../../api/reasons.ts';
import type { DispatchProblem } from '../../api/refusals.ts';
import {
  copyIdentity,
  isListed,
  marksFor,
  marksOf,
  missingMarks,
  otherManager,
  type CopyIdentity,
  type CopyMarks,
} from '../../work-kind/copy-marks.ts';
import type { CopyRules, WorkKind } from '../../work-kind/work-kind.ts';
import { copyOfOther } from '../writes/write-refusals.ts';
import type { RemoteCluster } from '../connection/remote-cluster-contract.ts';

/** What was found under the name of a copy. */
export type Found =
  /** No object, or an object whose immutable fields prove that it is not the copy; and no pod of the copy. */
  | { readonly kind: 'Absent' }
  /** As absent, after this many milliseconds: until then pods may be created that its Job controller has asked for. */
  | { readonly kind: 'Early'; readonly forMs: number }
  /** The copy, which is in the list from now on. */
  | { readonly kind: 'Listed' }
  /** The copy, or an object that may be the copy. Only a user of the cluster can resolve this. */
  | { readonly kind: 'Unclear'; readonly problem: DispatchProblem }
  /** The copy, but its cluster does not keep the marks that list it. */
  | { readonly kind: 'Unmarkable'; readonly copy: WorkObject; readonly epoch: number; readonly dropped: readonly string[] };

export type Sought = {
  readonly name: string;
  /** UID of the Job. */
  readonly originUid: string;
  /** Id of this manager. */
  readonly origin: string;
  /** The copy existed once: a Job of its name without an identity may be the copy. */
  readonly wasDispatched: boolean;
};

/**
 * Reads the name of a copy that is not in the list, and restores the marks by which copies are listed. Throws where the cluster gives no
 * answer.
 */
export async function lookForCopy(
  { copies }: Pick<WorkKind, 'copies'>,
  cluster: RemoteCluster,
  localKey: string,
  sought: Sought,
): Promise<Found> {
  const { name, origin } = sought;
  const { unanswered, writer } = cluster;
  const remembered = unanswered.unlistedCopy(localKey);
  const { namespace } = parseKey(localKey);
  const present = await writer.find({ namespace, name });
  const identity = present && identityOf(copies, present, remembered, sought.originUid);
  if (present === undefined || identity === undefined) {
    const unclear = present !== undefined && mayBeCopy(copies, present, remembered, sought);
    unanswered.resolved(localKey);
    if (unclear) return { kind: 'Unclear', problem: namesNobody(cluster.name) };
    const pods = await writer.runningPods({ namespace, name }, sought.originUid);
    if (pods.length > 0) return { kind: 'Unclear', problem: podsRemain(cluster.name, namespace, pods) };
    const forMs = unanswered.absent(localKey);
    return forMs > 0 ? { kind: 'Early', forMs } : { kind: 'Absent' };
  }
  const other = otherManager(present, origin, copies.templateIdentity);
  if (other !== undefined) {
    cluster.wrote(localKey, present);
    unanswered.resolved(localKey);
    return { kind: 'Unclear', problem: copyOfOther(cluster.name, other, origin) };
  }
  const marks = marksToRestore(identity, remembered?.metadata.uid === present.metadata.uid ? remembered : undefined, sought);
  const missing = missingMarks(present.metadata, marks);
  const copy = missing.length === 0 ? present : await writer.mark(present, marks);
  if (!isListed(copy.metadata, origin) || copyIdentity(copy, copies.templateIdentity)?.originUid !== identity.originUid) {
    cluster.wrote(localKey, copy);
    unanswered.resolved(localKey);
    return { kind: 'Unmarkable', copy, epoch: identity.epoch, dropped: missingMarks(copy.metadata, marks) };
  }
  cluster.wrote(localKey, copy);
  unanswered.resolved(localKey);
  return { kind: 'Listed' };
}

/** The identity of the copy by its template, or by what was known of this very object before. */
function identityOf(
  copies: CopyRules,
  present: WorkObject,
  remembered: DeepReadonly<WorkObject> | undefined,
  originUid: string,
): CopyIdentity | undefined {
  const known = remembered?.metadata.uid === present.metadata.uid ? copyIdentity(remembered) : undefined;
  return [copyIdentity(present, copies.templateIdentity), known].find((identity) => identity?.originUid === originUid);
}

/** An object with another UID than the copy, or with the template of another Job, took the name after the copy was gone. */
function mayBeCopy(
  copies: CopyRules,
  present: WorkObject,
  remembered: DeepReadonly<WorkObject> | undefined,
  { wasDispatched }: Sought,
): boolean {
  const isRemembered = remembered === undefined || remembered.metadata.uid === present.metadata.uid;
  return wasDispatched && isRemembered && copies.templateIdentity(present) === undefined;
}

function marksToRestore(identity: CopyIdentity, remembered: DeepReadonly<WorkObject> | undefined, { name, origin }: Sought): CopyMarks {
  const { labels, annotations } = marksFor(identity, origin, { name });
  return { labels, annotations: { ...(remembered && marksOf(remembered).annotations), ...annotations } };
}

const namesNobody = (cluster: string): DispatchProblem => ({
  reason: DispatchedReason.NameTaken,
  message:
    `cluster "${cluster}" has a Job of this name that does not say whose it is, and the copy is not in sight: delete that Job there, or, where it is ` +
    `the copy, give it the label ${ORIGIN_LABEL} and the annotations of a copy again`,
});

const PODS_LISTED_MAX = 3;
const podsRemain = (cluster: string, namespace: string, pods: readonly string[]): DispatchProblem => ({
  reason: DispatchedReason.PodsRemain,
  message:
    `the copy on cluster "${cluster}" is gone, and pods of it are still there: the Job goes on when they have ended; to end them: ` +
    `kubectl delete pod -n ${namespace} ${pods.filter(isPodName).slice(0, PODS_LISTED_MAX).join(' ')}`,
});

/** The identifying marks that the answer to a create lacks, as paths: a copy without them may be lost from the list later. */
export function unlistedMarks({ copies }: Pick<WorkKind, 'copies'>, answer: WorkObject, sent: Unsaved<WorkObject>): string[] {
  const [is, wanted] = [copies.templateIdentity(answer), copies.templateIdentity(sent)];
  const isKept = is?.originUid === wanted?.originUid && is?.epoch === wanted?.epoch;
  return [...(isKept ? [] : ['spec.template.spec.containers[0].env']), ...missingMarks(answer.metadata, marksOf(sent))];
}
