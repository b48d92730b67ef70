import type { DeepReadonly, WorkObject } from '../../../shared/api/kubernetes.ts';
import type { CopyEndings } from './mirror-controller-deps.ts';
import type { RemoteCluster } from '../connection/remote-cluster-contract.ts';
import { copyIdentity } from '../../work-kind/copy-marks.ts';

/** Keeps the endings of the pods of a copy that is about to be deleted. */
export async function keepEnding(
  endings: CopyEndings | undefined,
  { name, writer }: RemoteCluster,
  copy: DeepReadonly<WorkObject>,
): Promise<void> {
  const identity = copyIdentity(copy);
  if (identity === undefined || endings === undefined) return;
  const { localKey: job, originUid, epoch } = identity;
  await endings.keep({ job, originUid, cluster: name, epoch, copy, tails: () => writer.tails(copy) });
}
