import { templateIdentity } from '../../../shared/api/copy-identity.ts';
import type { DeepReadonly, WorkObject } from '../../../shared/api/kubernetes.ts';
import type { Logger } from '../../../shared/runtime/logger.ts';
import { copyIdentity, copyName, isListed, localKeyOfCopy, marksFor, type CopyMarks } from '../../work-kind/copy-marks.ts';
import type { WorkKind } from '../../work-kind/work-kind.ts';

/**
 * The essentials of one Job in a list of all Jobs of a cluster. Copies, by their label, or by their pod template and the name of a copy,
 * keep what decisions read; of any other Job only its existence is kept. A template alone proves nothing: users create Jobs from the
 * manifest of a copy.
 */
export function essentialsOfAny(kind: WorkKind, job: WorkObject, origin: string, besideOriginal: boolean): WorkObject {
  if (isListed(job.metadata, origin)) return kind.copies.essentials(job, besideOriginal);
  // Where the templates of another kind are, its essentials say.
  const read =
    kind.others.length === 0 || kind.of(job.metadata.name) === kind.of(undefined) ? job : kind.copies.essentials(job, besideOriginal);
  if (!isCopyByTemplate(read, origin, besideOriginal)) return kind.copies.unrelated(job);
  return read === job ? kind.copies.essentials(job, besideOriginal) : read;
}

/**
 * Restores the label of those copies that lack it, so that they are listed, and then suspended or deleted like any other. A copy that
 * changed meanwhile, or whose cluster does not answer, stays as it is for the next list.
 */
export async function restoreLabels(
  cluster: MarkWriter,
  copies: readonly DeepReadonly<WorkObject>[],
  origin: string,
  log: Logger,
): Promise<void> {
  for (const copy of copies) {
    const identity = isListed(copy.metadata, origin) ? undefined : copyIdentity(copy);
    if (identity === undefined) continue;
    const localKey = localKeyOfCopy(copy);
    try {
      cluster.wrote(localKey, await cluster.writer.mark(copy as WorkObject, marksFor(identity, origin, copy.metadata)));
    } catch (error) {
      log.info('a copy without its label could not be marked', { cluster: cluster.name, job: localKey, error });
    }
  }
}

export type MarkWriter = {
  readonly name: string;
  readonly wrote: (localKey: string, copy: WorkObject) => void;
  readonly writer: { readonly mark: (copy: WorkObject, marks: CopyMarks) => Promise<WorkObject> };
};

function isCopyByTemplate({ metadata, spec }: WorkObject, origin: string, besideOriginal: boolean): boolean {
  const identity = templateIdentity(spec);
  if (identity?.manager !== origin || identity.namespace !== metadata.namespace) return false;
  const local = { metadata: { ...metadata, name: identity.name, uid: identity.originUid }, spec };
  return metadata.name === copyName(local, besideOriginal);
}
