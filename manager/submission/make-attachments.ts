import type { DeepReadonly, Job, ObjectKey } from '../../shared/api/kubernetes.ts';
import { MANAGER_FIELD_MANAGER } from '../../shared/api/names.ts';
import { CONFIG_MAPS } from '../../shared/api/resources.ts';
import { type ApiError, isAlreadyExists } from '../../shared/kube/api-error.ts';
import type { ReadClient, WriteClient } from '../../shared/kube/client.ts';
import { isFinished } from '../../shared/kube/conditions.ts';
import { formatReference } from '../api/pod-references.ts';
import type { JobManifest } from '../policy/prepare-job.ts';
import type { WorkKind } from '../work-kind/work-kind.ts';
import { configMapOf, ownershipOf, type NamedAttachment } from './attachments.ts';
import { codeOf, isFinal } from './final-answer.ts';
import { SubmissionRefused } from './submission-queue.ts';
import type { Tenant } from './tenant.ts';

export type AttachmentDeps = {
  readonly kind: WorkKind<Job>;
  /** Creates as the account of the tenant, and reads as the manager. */
  readonly client: Pick<ReadClient, 'get'> & Pick<WriteClient, 'create'>;
  /** Where the manager may read ConfigMaps, so that they can travel. */
  readonly carryNamespaces?: readonly string[];
};

/**
 * Before there is a Job: whether its ConfigMaps may be created, by a dry run of the first. Throws {@link SubmissionRefused} where they may
 * not.
 */
export async function checkAttachments(
  { kind, client, carryNamespaces = [] }: AttachmentDeps,
  tenant: Tenant,
  manifest: JobManifest,
  [first]: readonly NamedAttachment[],
): Promise<void> {
  if (first === undefined) return;
  const { namespace = '' } = manifest.metadata;
  if (!carryNamespaces.includes(namespace))
    throw new SubmissionRefused(
      'Forbidden',
      `attachments: nothing is carried from the namespace ${namespace}; leave them out, or ask an administrator to add it to --carry-namespaces of the manager (chart: carry.namespaces)`,
    );
  try {
    await client.create(CONFIG_MAPS, configMapOf(kind, first, manifest), { fieldManager: MANAGER_FIELD_MANAGER, dryRun: true });
  } catch (error) {
    // Whose that is shows once the Job is there.
    if (isAlreadyExists(error)) return;
    throw isFinal(error) ? new SubmissionRefused(codeOf(error), refusalText(error, tenant, namespace), { cause: error }) : error;
  }
}

/**
 * Creates the ConfigMaps of a Job that is there and waits for them, or finds them made. A Job that is about to go, or has ended, needs
 * none. Returns why one can never be made; undefined: all are.
 *
 * @throws {Error} when it is worth a retry.
 */
export async function makeAttachments(
  { kind, client }: AttachmentDeps,
  tenant: Tenant,
  job: DeepReadonly<Job>,
  attachments: readonly NamedAttachment[],
): Promise<string | undefined> {
  if (job.metadata.deletionTimestamp !== undefined || isFinished(job.status)) return undefined;
  for (const [index, attachment] of attachments.entries()) {
    const wanted = configMapOf(kind, attachment, job);
    const key: ObjectKey = { namespace: job.metadata.namespace, name: attachment.configMap };
    try {
      await client.create(CONFIG_MAPS, wanted, { fieldManager: MANAGER_FIELD_MANAGER, answer: 'metadata' });
    } catch (error) {
      if (!isAlreadyExists(error)) {
        if (isFinal(error)) return refusalText(error, tenant, key.namespace);
        throw error;
      }
      const standing = ownershipOf(await client.get(CONFIG_MAPS, key), wanted);
      const named = formatReference(key.namespace, { kind: 'ConfigMap', name: key.name });
      if (standing === 'Leaving') throw new Error(`${named} of an earlier Job is being deleted`);
      if (standing === 'Foreign')
        return `attachments[${index}].name: ${named} exists already and is not of this submission; delete it, and submit under another key`;
    }
  }
  return undefined;
}

function refusalText(error: ApiError, { as }: Tenant, namespace: string): string {
  const who = as === undefined ? 'the manager (chart: submissions.attachments)' : `the ServiceAccount ${as.namespace}/${as.name}`;
  const remedy = / cannot create resource /.test(error.message) ? `; let ${who} create ConfigMaps in the namespace ${namespace}` : '';
  return `attachments: ${error.message}${remedy}`;
}
