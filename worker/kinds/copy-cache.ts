/** How the worker keeps objects of a kind beside Jobs: whose copies they are, and whether they are suspended. */
import { identityWithin } from '../../shared/api/copy-identity.ts';
import { valueAt, withValueAt } from '../../shared/api/field-path.ts';
import type { FencedKind, WorkOfKind } from '../../shared/api/fenced-kinds.ts';
import {
  ENDED_PODS_ANNOTATION,
  FENCED_ANNOTATION,
  FENCING_ANNOTATION,
  KEEP_LOGS_LABEL,
  ORIGIN_LABEL,
  ORIGIN_UID_ANNOTATION,
  POD_SELECTOR_ANNOTATION,
} from '../../shared/api/names.ts';
import type { IndexFunction } from '../../shared/kube/indexer.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';

/** Manager and original stand in label and annotation, as the pod templates say them where these say something else. */
export function compactCopy({ suspend }: Pick<FencedKind, 'suspend'>, object: WorkOfKind): WorkOfKind {
  const { name, namespace, uid, resourceVersion, creationTimestamp, deletionTimestamp, labels, annotations } = object.metadata;
  const identity = identityWithin(object.spec);
  const origin = identity?.manager ?? labels?.[ORIGIN_LABEL];
  const originUid = identity?.originUid ?? annotations?.[ORIGIN_UID_ANNOTATION];
  const metadata = { name, uid, resourceVersion, creationTimestamp, ...omitUndefined({ namespace, deletionTimestamp }) };
  if (origin === undefined || originUid === undefined) return { metadata };
  const kept = omitUndefined({
    [ORIGIN_UID_ANNOTATION]: originUid,
    [FENCING_ANNOTATION]: annotations?.[FENCING_ANNOTATION],
    [FENCED_ANNOTATION]: annotations?.[FENCED_ANNOTATION],
    [POD_SELECTOR_ANNOTATION]: annotations?.[POD_SELECTOR_ANNOTATION],
    [ENDED_PODS_ANNOTATION]: annotations?.[ENDED_PODS_ANNOTATION],
  });
  const marks = omitUndefined({ [ORIGIN_LABEL]: origin, [KEEP_LOGS_LABEL]: labels?.[KEEP_LOGS_LABEL] });
  const isSuspended = valueAt(object, suspend) === true;
  const trimmed: WorkOfKind = { metadata: { ...metadata, labels: marks, annotations: kept } };
  return withValueAt(trimmed, suspend, isSuspended);
}

/** Indexes of trimmed objects. */
export const OF_ORIGIN = 'origin';
export const OF_ORIGINAL = 'original';
export const copyIndexers: Readonly<Record<string, IndexFunction<WorkOfKind>>> = {
  [OF_ORIGIN]: ({ metadata }) => some(metadata.labels?.[ORIGIN_LABEL]),
  [OF_ORIGINAL]: ({ metadata }) => some(metadata.annotations?.[ORIGIN_UID_ANNOTATION]),
};

const some = (value: string | undefined): string[] => (value === undefined ? [] : [value]);
