import { templateIdentity, type TemplateIdentity } from '../../shared/api/copy-identity.ts';
import type { DeepReadonly, ObjectKey, ObjectMeta, Unsaved, WorkObject } from '../../shared/api/kubernetes.ts';
import {
  DISPATCH_EPOCH_ANNOTATION,
  EPOCH_VARIABLE,
  FENCING_ANNOTATION,
  JOB_CONTROLLER_ANNOTATION,
  JOB_UID_VARIABLE,
  JOB_VARIABLE,
  MANAGER_VARIABLE,
  ORIGIN_LABEL,
  ORIGIN_NAME_ANNOTATION,
  ORIGIN_UID_ANNOTATION,
} from '../../shared/api/names.ts';
import { formatKey, objectKey } from '../../shared/kube/keys.ts';
import { parseQualifiedName, qualifiedName } from './qualified-name.ts';

/** The identity of a copy: its Job and its placement. */
export type CopyIdentity = { readonly localKey: ObjectKey; readonly originUid: string; readonly epoch: number };

/**
 * The identity of this copy; undefined where it has none in this version's format. The template counts, and the annotations where the
 * template has no identity. `read`: how its kind finds the template in an object that no cache has read: it may have several, in other
 * places than a Job.
 */
export function copyIdentity(copy: Identified, read: ReadTemplate = ofJob): CopyIdentity | undefined {
  const { namespace = '', name = '', annotations } = copy.metadata;
  const inTemplate = read(copy as DeepReadonly<WorkObject>);
  const originUid = inTemplate?.originUid ?? annotations?.[ORIGIN_UID_ANNOTATION];
  const epoch = Number(inTemplate?.epoch ?? annotations?.[DISPATCH_EPOCH_ANNOTATION]);
  if (originUid === undefined || originUid === '' || !Number.isSafeInteger(epoch)) return undefined;
  const ownName = inTemplate !== undefined && inTemplate.namespace === namespace ? inTemplate.name : annotations?.[ORIGIN_NAME_ANNOTATION];
  return { localKey: { namespace, name: ownName ?? name }, originUid, epoch };
}

/** Key of the Job of this copy. A damaged copy without an identity is found under its own name. */
export const localKeyOfCopy = (copy: DeepReadonly<WorkObject>): string => formatKey(copyIdentity(copy)?.localKey ?? objectKey(copy));

type Identified = {
  readonly metadata: DeepReadonly<Partial<Pick<ObjectMeta, 'namespace' | 'name' | 'annotations'>>>;
  readonly spec?: unknown;
};
type ReadTemplate = (object: DeepReadonly<WorkObject>) => TemplateIdentity | undefined;
const ofJob: ReadTemplate = ({ spec }) => templateIdentity(spec);

/**
 * The name of the copy, of its kind: that of the original, except beside the original, where it is taken. The name leaves room for the
 * completion index, so that pods of an Indexed Job have valid host names.
 */
export function copyName(local: { readonly metadata: Pick<ObjectMeta, 'name' | 'uid'> }, besideOriginal: boolean): string {
  if (!besideOriginal) return local.metadata.name;
  const { qualifier, name } = parseQualifiedName(local.metadata.name);
  return qualifiedName(qualifier, `${name.slice(0, 42).replace(/[-.]+$/, '')}-${local.metadata.uid.slice(0, 8)}`);
}

/** The environment variables of a copy with this identity and manager. */
export const variablesOf = (
  { localKey, originUid, epoch }: CopyIdentity,
  manager?: string,
): readonly { readonly name: string; readonly value: string }[] => [
  { name: EPOCH_VARIABLE, value: String(epoch) },
  { name: JOB_VARIABLE, value: formatKey(localKey) },
  { name: JOB_UID_VARIABLE, value: originUid },
  ...(manager === undefined ? [] : [{ name: MANAGER_VARIABLE, value: manager }]),
];

/** The marks by which a copy is listed, and which its worker and the users of its cluster read: a label, and annotations. */
export type CopyMarks = { readonly labels: Readonly<Record<string, string>>; readonly annotations: Readonly<Record<string, string>> };

const IDENTITY_ANNOTATIONS = [ORIGIN_UID_ANNOTATION, DISPATCH_EPOCH_ANNOTATION, ORIGIN_NAME_ANNOTATION];
const MARK_ANNOTATIONS = [...IDENTITY_ANNOTATIONS, JOB_CONTROLLER_ANNOTATION, FENCING_ANNOTATION];

/** The marks that a copy is sent with. */
export const marksOf = ({ metadata }: { readonly metadata: DeepReadonly<Partial<ObjectMeta>> }): CopyMarks => ({
  labels: some(metadata.labels, [ORIGIN_LABEL]),
  annotations: some(metadata.annotations, MARK_ANNOTATIONS),
});

/** The marks without which a copy is not recognized. */
export function marksFor({ localKey, originUid, epoch }: CopyIdentity, origin: string, copy: { readonly name: string }): CopyMarks {
  const own = { [ORIGIN_UID_ANNOTATION]: originUid, [DISPATCH_EPOCH_ANNOTATION]: String(epoch) };
  const besideOriginal = localKey.name === copy.name ? {} : { [ORIGIN_NAME_ANNOTATION]: localKey.name };
  return { labels: { [ORIGIN_LABEL]: origin }, annotations: { ...own, ...besideOriginal } };
}

/** The marks that an object lacks, as paths. */
export function missingMarks({ labels, annotations }: DeepReadonly<ObjectMeta>, marks: CopyMarks): string[] {
  const missing = (kind: string, has: Readonly<Record<string, string>> | undefined, wanted: Readonly<Record<string, string>>): string[] =>
    Object.entries(wanted).flatMap(([name, value]) => (has?.[name] === value ? [] : [`metadata.${kind}[${name}]`]));
  return [...missing('labels', labels, marks.labels), ...missing('annotations', annotations, marks.annotations)];
}

/**
 * The annotations that a listed copy is to be given: the identity, where it was removed, and whether its worker stops it when the manager
 * is out of reach. Undefined when it has them.
 */
export function changedMarks(copy: DeepReadonly<WorkObject>, wanted: Unsaved<WorkObject>): Record<string, string | null> | undefined {
  const has = copy.metadata.annotations ?? {};
  const is = wanted.metadata.annotations ?? {};
  const own = Object.entries(some(is, IDENTITY_ANNOTATIONS)).filter(([name, value]) => has[name] !== value);
  const fencing = has[FENCING_ANNOTATION] === is[FENCING_ANNOTATION] ? [] : [[FENCING_ANNOTATION, is[FENCING_ANNOTATION] ?? null]];
  const changes = [...own, ...fencing];
  return changes.length === 0 ? undefined : Object.fromEntries(changes);
}

/** A manager lists copies by its own value of this label: it does not see an object without it. */
export const isListed = ({ labels }: DeepReadonly<ObjectMeta>, origin: string): boolean => labels?.[ORIGIN_LABEL] === origin;

/**
 * The id of another manager that made the copy, by the template or, where that names none, by the label; undefined for a copy of this
 * manager.
 */
export function otherManager(copy: DeepReadonly<WorkObject>, origin: string, read: ReadTemplate = ofJob): string | undefined {
  const manager = read(copy)?.manager ?? copy.metadata.labels?.[ORIGIN_LABEL];
  return manager === origin ? undefined : manager;
}

const some = (map: Readonly<Record<string, string>> | undefined, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.flatMap((name) => (map?.[name] === undefined ? [] : [[name, map[name]]])));
