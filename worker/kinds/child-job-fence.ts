/**
 * The fence of Jobs that an operator has made for a copy of a kind beside Jobs: they follow their copy. Whose they are is read from their
 * pod template, which never changes; whether a fence is asked for, from the copy of that identity in their namespace.
 */
import { templateIdentity } from '../../shared/api/copy-identity.ts';
import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import { FENCING_ANNOTATION } from '../../shared/api/names.ts';
import { controllerOf } from '../../shared/kube/controller-of.ts';
import type { FenceState } from '../fence/origin-fence.ts';
import type { WatchedKinds } from './watched-kinds.ts';

/** The state of such a Job, where that of its manager's copies is `fence`; of any other Job `fence`. */
export function fenceOfChildJob(
  job: DeepReadonly<Job>,
  fence: FenceState,
  kinds: Pick<WatchedKinds, 'ofOriginal' | 'isListing'>,
): FenceState {
  const originUid = fence === 'Open' || controllerOf(job) === undefined ? undefined : templateIdentity(job.spec)?.originUid;
  if (originUid === undefined) return fence;
  const copies = kinds.ofOriginal(originUid).filter(({ copy }) => copy.metadata.namespace === job.metadata.namespace);
  // Whoever makes an object with the identity of a copy speaks for nobody: the copy itself still asks for the fence.
  if (copies.length > 0 && copies.every(({ copy }) => copy.metadata.annotations?.[FENCING_ANNOTATION] === 'off')) return 'Open';
  return copies.length === 0 && kinds.isListing() ? 'Hold' : fence;
}
