import type { DeepReadonly, Namespace } from '../../api/kubernetes.ts';
import { NAMESPACES, type Resource } from '../../api/resources.ts';
import { isConflict, isNotFound } from '../../kube/api-error.ts';
import { runController } from '../../kube/controller.ts';
import { createInformer, type Informer } from '../../kube/informer.ts';
import { pathTo } from '../../kube/request-path.ts';
import { createWorkqueue, type Workqueue } from '../../kube/workqueue.ts';
import { toWireTime } from '../../api/wire-time.ts';
import type { Controller, ControllerDeps } from './controllers.ts';
import { canDo, discover, type DiscoveredResource } from './discovery.ts';
import { type ContentFinding, deletionConditions, mergeConditions } from './namespace-conditions.ts';

const WORKERS = 4;
/** How soon a namespace that still has content is looked at again. */
const RATE_LIMIT = { baseDelayMs: 50, maxDelayMs: 2000 };
/** The finalizer in a namespace's spec that this controller clears when the content is gone. */
const KUBERNETES_FINALIZER = 'kubernetes';

/** Empties namespaces that are being deleted, then lets them go. */
export function createNamespaceController(deps: ControllerDeps): Controller {
  return {
    async run(signal) {
      const { clock, log } = deps;
      const queue = createWorkqueue({ name: 'namespace', clock, rateLimit: RATE_LIMIT });
      const informer = createInformer({ ...deps, resource: NAMESPACES });
      const notice = (namespace: DeepReadonly<Namespace>): void => {
        if (namespace.metadata.deletionTimestamp !== undefined) queue.add(namespace.metadata.name);
      };
      informer.addHandler({ added: notice, updated: notice });
      const reconcile = (name: string): Promise<void> => emptyAndRelease(deps, informer, queue, name);
      const working = runController({ name: 'namespace', queue, concurrency: WORKERS, reconcile, log });
      await informer.run(signal);
      queue.shutDown();
      await working;
    },
  };
}

async function emptyAndRelease(deps: ControllerDeps, informer: Informer<Namespace>, queue: Workqueue, name: string): Promise<void> {
  const namespace = informer.get({ namespace: '', name });
  if (namespace?.metadata.deletionTimestamp === undefined) return;
  if ((namespace.spec?.finalizers ?? []).every((finalizer) => finalizer !== KUBERNETES_FINALIZER)) return;
  try {
    const remaining = await deleteContent(deps, name);
    await reportConditions(deps, name, remaining);
    if (remaining.length > 0) {
      // Content goes at its own pace: pods after their grace period, others when their finalizers are cleared.
      queue.addRateLimited(name);
      return;
    }
    await release(deps, name);
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

/** Asks for everything in the namespace to be deleted, and tells what is still there. Pods go first, as upstream since v1.33. */
async function deleteContent({ client }: ControllerDeps, namespace: string): Promise<ContentFinding[]> {
  const contained = (await discover(client)).resources.filter(
    (resource) => resource.namespaced && canDo(resource, 'list', 'delete') && resource.plural !== 'bindings',
  );
  const isPod = (resource: Resource): boolean => resource.group === '' && resource.plural === 'pods';
  const inOrder = [contained.filter(isPod), contained.filter((resource) => !isPod(resource))];
  for (const group of inOrder) {
    const findings: ContentFinding[] = [];
    for (const resource of group) findings.push(...(await deleteAll(client, resource, namespace)));
    if (findings.length > 0) return findings;
  }
  return [];
}

async function deleteAll(client: ControllerDeps['client'], resource: DiscoveredResource, namespace: string): Promise<ContentFinding[]> {
  const { items } = await client.list(resource, { namespace });
  if (items.length === 0) return [];
  const untouched = items.filter((item) => item.metadata.deletionTimestamp === undefined);
  if (untouched.length > 0 && canDo(resource, 'deletecollection')) {
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Background' };
    await client.raw({ method: 'DELETE', path: pathTo(resource, namespace), body });
  } else {
    for (const { metadata } of untouched) await deleteOne(client, resource, namespace, metadata.name);
  }
  const left = await client.list(resource, { namespace });
  if (left.items.length === 0) return [];
  return [{ resource, count: left.items.length, finalizers: left.items.flatMap((item) => item.metadata.finalizers ?? []) }];
}

async function deleteOne(client: ControllerDeps['client'], resource: Resource, namespace: string, name: string): Promise<void> {
  try {
    await client.delete(resource, { namespace, name }, { propagationPolicy: 'Background' });
  } catch (error) {
    if (!isNotFound(error)) throw error;
  }
}

async function reportConditions({ client, clock }: ControllerDeps, name: string, remaining: readonly ContentFinding[]): Promise<void> {
  const live = await client.get(NAMESPACES, { namespace: '', name });
  const known = live.status?.conditions ?? [];
  const conditions = mergeConditions(known, deletionConditions(remaining), toWireTime(clock.now()));
  if (conditions === known) return;
  try {
    await client.replaceStatus(NAMESPACES, { ...live, status: { ...live.status, conditions } });
  } catch (error) {
    // Somebody else wrote; the next round reports again.
    if (!isConflict(error)) throw error;
  }
}

async function release({ client }: ControllerDeps, name: string): Promise<void> {
  const live = await client.get(NAMESPACES, { namespace: '', name });
  if (live.metadata.deletionTimestamp === undefined) return;
  const finalizers = (live.spec?.finalizers ?? []).filter((finalizer) => finalizer !== KUBERNETES_FINALIZER);
  const body = { ...live, apiVersion: 'v1', kind: 'Namespace', spec: { ...live.spec, finalizers } };
  await client.raw({ method: 'PUT', path: `${pathTo(NAMESPACES, '', name)}/finalize`, body });
}
