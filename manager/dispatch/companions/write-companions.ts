import type { ConfigMap, DeepReadonly, KubeObject, Secret, Unsaved, WorkObject } from '../../../shared/api/kubernetes.ts';
import { MANAGER_FIELD_MANAGER, ORIGIN_LABEL } from '../../../shared/api/names.ts';
import { apiVersionOf, CONFIG_MAPS, type Resource, SECRETS } from '../../../shared/api/resources.ts';
import { isAlreadyExists, isForbidden, isNotFound } from '../../../shared/kube/api-error.ts';
import type { WriteClient } from '../../../shared/kube/client.ts';
import { sanitizeText } from '../../api/sanitize-text.ts';
import { DispatchedReason } from '../../api/reasons.ts';
import type { DispatchProblem } from '../../api/refusals.ts';
import { sameJson } from '../../api/json-diff.ts';
import type { Companion } from './plan-companions.ts';

type Content = ConfigMap | Secret;

/**
 * Writes the companions of a copy that exists, owned by it: the garbage collector of the cluster deletes each with its last copy. An object
 * that another copy has brought gets one more owner. Writing again changes nothing. Returns why it cannot be done; undefined: it is done.
 *
 * @throws {Error} when a write fails that is worth a retry with back-off.
 */
export async function writeCompanions(
  client: Pick<WriteClient, 'create' | 'patch'>,
  cluster: string,
  owner: Resource,
  copy: DeepReadonly<WorkObject>,
  companions: readonly Companion[],
  signal: AbortSignal,
): Promise<DispatchProblem | undefined> {
  for (const companion of companions) {
    const problem = await write(client, cluster, owner, copy, companion, signal);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

async function write(
  client: Pick<WriteClient, 'create' | 'patch'>,
  cluster: string,
  owner: Resource,
  copy: DeepReadonly<WorkObject>,
  { reference: { kind }, object }: Companion,
  signal: AbortSignal,
): Promise<DispatchProblem | undefined> {
  const resource = (kind === 'ConfigMap' ? CONFIG_MAPS : SECRETS) as Resource<Content>;
  const { name = '', namespace = '' } = object.metadata;
  const ownerReferences = [{ apiVersion: apiVersionOf(owner), kind: owner.kind, name: copy.metadata.name, uid: copy.metadata.uid }];
  const options = { fieldManager: MANAGER_FIELD_MANAGER, signal };
  try {
    const owned = { ...object, metadata: { ...object.metadata, ownerReferences } } as Unsaved<Content>;
    await client.create(resource, owned, { ...options, answer: 'metadata' });
    return undefined;
  } catch (error) {
    if (isForbidden(error)) return refused(cluster, kind, namespace, name, error);
    if (!isAlreadyExists(error)) throw error;
  }
  try {
    // A patch that changes nothing reads the object, for which the manager needs no further right.
    const present = await client.patch(resource, { namespace, name }, { type: 'json', body: [] }, options);
    if (!isCompanion(present) || !isSame(present, object)) return taken(cluster, kind, namespace, name);
    if (isGoing(present)) throw going(cluster, kind, namespace, name);
    // A strategic merge adds to the owners, by UID. The object is immutable, so that one of this UID still has this content.
    const body = { metadata: { uid: present.metadata.uid, ownerReferences } };
    const owned = await client.patch(resource, { namespace, name }, { type: 'strategic', body }, { ...options, answer: 'metadata' });
    if (isGoing(owned)) throw going(cluster, kind, namespace, name);
    return undefined;
  } catch (error) {
    if (isForbidden(error)) return refused(cluster, kind, namespace, name, error);
    // The garbage collector was faster: the retry creates it.
    if (isNotFound(error)) throw new Error(`${kind} ${namespace}/${name} on cluster ${cluster} was deleted meanwhile`, { cause: error });
    throw error;
  }
}

const taken = (cluster: string, kind: string, namespace: string, name: string): DispatchProblem => ({
  reason: DispatchedReason.NameTaken,
  message: `cluster "${cluster}" has a ${kind} ${namespace}/${name} that no copy has brought: delete it there`,
});

/** An object without the label belongs to somebody else, whatever it contains: it must not go with a copy. */
const isCompanion = ({ metadata }: DeepReadonly<KubeObject>): boolean => metadata.labels?.[ORIGIN_LABEL] !== undefined;

/** A finalizer of others can keep an object that is being deleted. A new owner does not bring it back. */
const isGoing = ({ metadata }: DeepReadonly<KubeObject>): boolean => metadata.deletionTimestamp !== undefined;
const going = (cluster: string, kind: string, namespace: string, name: string): Error =>
  new Error(`${kind} ${namespace}/${name} on cluster ${cluster} is being deleted`);

/** A companion is immutable, so that its content stays what it is now. */
const isSame = (present: DeepReadonly<KubeObject>, wanted: Companion['object']): boolean => {
  const { metadata: _is, kind: _kind, apiVersion: _version, ...content } = present as DeepReadonly<Content> & KubeObject;
  const { metadata: _wanted, ...own } = wanted;
  return sameJson(content, own);
};

const refused = (cluster: string, kind: string, namespace: string, name: string, error: unknown): DispatchProblem => ({
  reason: DispatchedReason.Refused,
  message:
    `cluster "${cluster}" does not let the manager write ${kind} ${namespace}/${name}, which travels with the Job (chart switchyard-worker, ` +
    `carry.namespaces; clusters join --carry-namespaces): ${sanitizeText((error as Error).message)}`,
});
