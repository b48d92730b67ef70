import { createHash } from 'node:crypto';
import type { Attachment } from '../../shared/api/attachment.ts';
import type { ConfigMap, DeepReadonly, OwnerReference, Unsaved, WorkObject } from '../../shared/api/kubernetes.ts';
import { ATTACHMENTS_ANNOTATION } from '../../shared/api/names.ts';
import { apiVersionOf } from '../../shared/api/resources.ts';
import { ATTACHMENT_DIGEST_LENGTH, attachedText, readAttachments } from '../api/attachments.ts';
import { contentDigest, contentOf } from '../api/content-digest.ts';
import { formatProblems } from '../api/field-problem.ts';
import { isJsonObject } from '../api/json-value.ts';
import type { JobManifest } from '../policy/prepare-job.ts';
import { parseQualifiedName } from '../work-kind/qualified-name.ts';
import type { WorkKind } from '../work-kind/work-kind.ts';
import { SubmissionRefused, type Submission } from './submission-queue.ts';
import type { MadeOf } from './submission-seal.ts';
import type { Tenant } from './tenant.ts';

/** One attempt of a submission, and whose it is. */
export type AttemptOf = {
  readonly tenant: Pick<Tenant, 'id' | 'label'>;
  readonly submission: Pick<Submission, 'key' | 'data'>;
  readonly made: MadeOf;
};

/**
 * The ConfigMaps that an attempt brings along. Each is named `NAME-DIGEST` by tenant, key, attempt and payload: the same at every delivery,
 * and another for any other attempt, so that none is ever overwritten. Throws {@link SubmissionRefused}.
 */
export function attachmentsOf({ tenant, submission: { key, data }, made }: AttemptOf): readonly NamedAttachment[] {
  // A manifest alone has none.
  const read = readAttachments(isJsonObject(data) && 'manifest' in data ? data['attachments'] : undefined);
  if (read.kind === 'Refused') throw new SubmissionRefused('Invalid', formatProblems(read.problems));
  if (read.attachments.length === 0) return [];
  const digest = createHash('sha256')
    .update(JSON.stringify(['switchyard.dev/attachments', tenant.id, key, made.attempt, made.payload]))
    .digest('hex')
    .slice(0, ATTACHMENT_DIGEST_LENGTH);
  return read.attachments.map((attachment) => ({ ...attachment, configMap: `${attachment.name}-${digest}` }));
}

/** An attachment with the name of its ConfigMap. */
export type NamedAttachment = Attachment & { readonly configMap: string };

/** The manifest with the names of the ConfigMaps in its pods. Throws {@link SubmissionRefused} where one is referred to by none. */
export function withAttachments(kind: WorkKind, manifest: JobManifest, attachments: readonly NamedAttachment[]): JobManifest {
  if (attachments.length === 0) return manifest;
  const referred = new Set(kind.references(manifest).flatMap((each) => (each.kind === 'ConfigMap' ? [each.name] : [])));
  const unused = attachments.findIndex(({ name }) => !referred.has(name));
  if (unused >= 0) {
    const name = JSON.stringify(attachments[unused]?.name);
    const remedy = `refer to it in a volume, env or envFrom, or leave it out`;
    throw new SubmissionRefused('Invalid', `attachments[${unused}].name: no pod of the manifest refers to a ConfigMap ${name}; ${remedy}`);
  }
  const names = new Map(attachments.map(({ name, configMap }) => [name, configMap]));
  const renamed = kind.copies.withReferences(manifest, (reference) =>
    reference.kind === 'ConfigMap' ? names.get(reference.name) : undefined,
  ) as JobManifest;
  const attached = attachedText(Object.fromEntries(attachments.map((each) => [each.configMap, contentDigest(each)])));
  const annotations = { ...renamed.metadata.annotations, [ATTACHMENTS_ANNOTATION]: attached };
  return { ...renamed, metadata: { ...renamed.metadata, annotations } };
}

/** The ConfigMap of an attachment as it is created: immutable, and owned by the object once that is there. */
export function configMapOf(
  kind: WorkKind,
  attachment: NamedAttachment,
  { metadata: { namespace = '', name: qualified = '', uid } }: DeepReadonly<Unsaved<WorkObject>>,
): Unsaved<ConfigMap> {
  const { resource } = kind.of(qualified);
  const { name } = parseQualifiedName(qualified);
  const ownerReferences = [{ apiVersion: apiVersionOf(resource), kind: resource.kind, name, uid: uid ?? '' }];
  return {
    metadata: { namespace, name: attachment.configMap, ...(uid === undefined ? {} : { ownerReferences }) },
    ...contentOf(attachment),
    immutable: true,
  };
}

/**
 * The owner of a ConfigMap that has the name of an attachment already. Ours: an earlier delivery made it. Leaving: it belongs to an earlier
 * object of this name, and the garbage collector deletes it. Foreign: somebody else has made it.
 */
export function ownershipOf(found: DeepReadonly<ConfigMap>, wanted: Unsaved<ConfigMap>): 'Ours' | 'Leaving' | 'Foreign' {
  const [owner] = wanted.metadata.ownerReferences ?? [];
  const { deletionTimestamp, ownerReferences = [] } = found.metadata;
  const isSame = found.immutable === true && contentDigest(found) === contentDigest(wanted);
  if (deletionTimestamp === undefined && isSame && ownerReferences.some(({ uid }) => uid === owner?.uid)) return 'Ours';
  // Of one name there is one object: no other UID comes back.
  const isGone = (each: DeepReadonly<OwnerReference>): boolean =>
    owner !== undefined &&
    [each.apiVersion, each.kind, each.name].join(' ') === [owner.apiVersion, owner.kind, owner.name].join(' ') &&
    each.uid !== owner.uid;
  const isOrphan = ownerReferences.length > 0 && ownerReferences.every(isGone);
  return deletionTimestamp !== undefined || isOrphan ? 'Leaving' : 'Foreign';
}
