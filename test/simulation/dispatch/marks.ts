/** Users and webhooks of worker clusters who mean no harm, and take from copies what these are known by. */
import type { DeepReadonly, Job } from '../../../shared/api/kubernetes.ts';
import {
  DISPATCH_EPOCH_ANNOTATION,
  FENCING_ANNOTATION,
  JOB_UID_VARIABLE,
  ORIGIN_LABEL,
  ORIGIN_NAME_ANNOTATION,
  ORIGIN_UID_ANNOTATION,
} from '../../../shared/api/names.ts';
import { JOBS, PODS } from '../../../shared/api/resources.ts';
import { ApiError } from '../../../shared/kube/api-error.ts';
import type { TransportRequest } from '../../../shared/kube/transport.ts';
import { isOver } from '../../support/invariants/invariant.ts';
import type { Dice } from '../dice.ts';
import { OTHER_CONTROLLER } from '../random-job.ts';
import type { Cluster } from './yard.ts';

/** UID of the Job that this one is a copy of, as its template says it. Read apart from the manager's own reading. */
export function originUidOf({ spec }: DeepReadonly<Job>): string | undefined {
  const [container] = spec.template.spec?.containers ?? [];
  return container?.env?.find(({ name }) => name === JOB_UID_VARIABLE)?.value;
}

const without = (names: readonly string[]): Record<string, null> => Object.fromEntries(names.map((name) => [name, null]));
const OF_COPIES = [ORIGIN_UID_ANNOTATION, DISPATCH_EPOCH_ANNOTATION, ORIGIN_NAME_ANNOTATION];
const EDITS: readonly [object, ...object[]] = [
  { labels: without([ORIGIN_LABEL]) },
  { labels: { [ORIGIN_LABEL]: 'somebody' } },
  { annotations: without(OF_COPIES) },
  { annotations: { [DISPATCH_EPOCH_ANNOTATION]: '1', [ORIGIN_UID_ANNOTATION]: 'somebody' } },
  { labels: without([ORIGIN_LABEL]), annotations: without([...OF_COPIES, FENCING_ANNOTATION]) },
];

/** Those that have not ended. */
export const copiesOn = ({ history }: Cluster): Job[] =>
  [...history.jobs.values()].filter((job) => originUidOf(job) !== undefined && !isOver(job));

/** False: there is no copy. */
export async function editMarks(cluster: Cluster, dice: Dice, trace: (line: string) => void): Promise<boolean> {
  const copy = dice.some(copiesOn(cluster));
  if (copy === undefined) return false;
  const { namespace, name, uid } = copy.metadata;
  const metadata = { uid, ...dice.pick(EDITS) };
  trace(`${cluster.name}: a user changes ${namespace}/${name} ${JSON.stringify(metadata)}`);
  return carriedOut(() => cluster.admin.patch(JOBS, { namespace, name }, { type: 'merge', body: { metadata } }));
}

/** Somebody deletes a copy, and makes a Job of its name that runs nothing. */
export async function replaceCopy(cluster: Cluster, dice: Dice, trace: (line: string) => void): Promise<boolean> {
  const copy = dice.some(copiesOn(cluster));
  if (copy === undefined) return false;
  const { namespace, name, uid } = copy.metadata;
  trace(`${cluster.name}: a user puts a Job of his own in the place of ${namespace}/${name}`);
  const isGone = await carriedOut(() => cluster.admin.delete(JOBS, { namespace, name }, { propagationPolicy: 'Background', uid }));
  const containers = [{ name: 'main', image: 'busybox' }];
  const spec = { suspend: true, managedBy: OTHER_CONTROLLER, template: { spec: { restartPolicy: 'Never' as const, containers } } };
  return isGone && carriedOut(() => cluster.admin.create(JOBS, { metadata: { namespace, name }, spec }));
}

/** Somebody deletes a copy, and leaves its pods. */
export async function orphanPods(cluster: Cluster, dice: Dice, trace: (line: string) => void): Promise<boolean> {
  const copy = dice.some(copiesOn(cluster));
  if (copy === undefined) return false;
  const { namespace, name, uid } = copy.metadata;
  trace(`${cluster.name}: a user deletes ${namespace}/${name}, and leaves its pods`);
  return carriedOut(() => cluster.admin.delete(JOBS, { namespace, name }, { propagationPolicy: 'Orphan', uid }));
}

/** What a Job says that no worker runs: kubectl delete job --cascade=background. */
export async function removeCopies(cluster: Cluster, trace: (line: string) => void): Promise<void> {
  for (const { metadata } of copiesOn(cluster)) {
    const { namespace, name, uid, deletionTimestamp, finalizers = [] } = metadata;
    // One that is being deleted before its pods waits for them, and nobody lets go of those.
    if (deletionTimestamp !== undefined && !finalizers.includes('foregroundDeletion')) continue;
    trace(`${cluster.name}: a user gives up what runs of ${namespace}/${name} there`);
    await carriedOut(() => cluster.admin.delete(JOBS, { namespace, name }, { propagationPolicy: 'Background', uid }));
  }
}

/** They delete the pods, too. */
export async function removeOrphans({ admin }: Cluster): Promise<void> {
  for (const { metadata, spec } of (await admin.list(PODS)).items) {
    const { namespace, name, uid, ownerReferences = [] } = metadata;
    const isOfCopy = spec.containers.some(({ env = [] }) => env.some((variable) => variable.name === JOB_UID_VARIABLE));
    if (isOfCopy && ownerReferences.length === 0) await carriedOut(() => admin.delete(PODS, { namespace: namespace ?? '', name }, { uid }));
  }
}

/** They delete it again. */
export async function removeReplacements({ admin, history }: Cluster): Promise<void> {
  for (const { metadata, spec } of history.jobs.values()) {
    const { namespace, name, uid } = metadata;
    if (spec.managedBy === OTHER_CONTROLLER)
      await carriedOut(() => admin.delete(JOBS, { namespace, name }, { propagationPolicy: 'Background', uid }));
  }
}

async function carriedOut(call: () => Promise<unknown>): Promise<boolean> {
  try {
    await call();
    return true;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return false;
  }
}

/** What a webhook makes of a Job that is written in one of these ways: nothing of ours is left in its labels and annotations. */
export const dropsMarks =
  (methods: readonly string[]) =>
  (request: TransportRequest): TransportRequest => {
    const [path = ''] = request.path.split('?');
    if (!methods.includes(request.method) || !/\/(jobs|crews)(\/[^/]+)?$/.test(path)) return request;
    const body = JSON.parse(request.body ?? '{}') as { readonly metadata?: Partial<Job['metadata']> };
    const { labels, annotations } = body.metadata ?? {};
    const metadata = {
      ...body.metadata,
      ...(labels && { labels: others(labels) }),
      ...(annotations && { annotations: others(annotations) }),
    };
    return { ...request, body: JSON.stringify({ ...body, metadata }) };
  };

const others = (map: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(map).filter(([name]) => !name.startsWith('switchyard.dev/')));
