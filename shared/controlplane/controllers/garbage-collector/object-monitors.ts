import type { DeepReadonly, KubeObject } from '../../../api/kubernetes.ts';
import type { Resource } from '../../../api/resources.ts';
import type { KubeClient } from '../../../kube/client.ts';
import { createInformer } from '../../../kube/informer.ts';
import type { Clock } from '../../../runtime/clock.ts';
import { sleep } from '../../../runtime/clock.ts';
import { omitUndefined } from '../../../runtime/omit-undefined.ts';
import type { Logger } from '../../../runtime/logger.ts';
import type { Random } from '../../../runtime/random.ts';
import { canDo, discover, kindKey, type DiscoveredResource, type Discovery } from '../discovery.ts';
import type { GraphObject } from './owner-graph.ts';

export type MonitorHandler = { changed(object: GraphObject): void; gone(uid: string): void };

export type MonitorDeps = { readonly client: KubeClient; readonly clock: Clock; readonly random: Random; readonly log: Logger };

/** New kinds are looked for this often, and shortly after a CustomResourceDefinition changed. */
const DISCOVERY_PERIOD_MS = 30_000;
const DISCOVERY_SOON_MS = 100;

/** Nobody owns or is owned by an Event, and there are many. */
const isIgnored = (resource: Resource): boolean => resource.plural === 'events';

type Monitor = { readonly resource: DiscoveredResource; stop(): void; readonly ended: Promise<void>; readonly synced: Promise<void> };

/** Watches the metadata of every kind that can be deleted, kinds that appear later included. */
export class ObjectMonitors {
  readonly #deps: MonitorDeps;
  readonly #handler: MonitorHandler;
  readonly #monitors = new Map<string, Monitor>();
  #discovery: Discovery | undefined;
  #wake = new AbortController();

  constructor(deps: MonitorDeps, handler: MonitorHandler) {
    this.#deps = deps;
    this.#handler = handler;
  }

  /** The resource of a kind in a version that is served. */
  resourceOf(apiVersion: string, kind: string): DiscoveredResource | undefined {
    return this.#discovery?.byKind.get(kindKey(apiVersion, kind));
  }

  /** Discovers and watches until `signal` aborts. `ready` is called when everything found first is in the graph. */
  async run(signal: AbortSignal, ready: () => void): Promise<void> {
    let announced = false;
    while (!signal.aborted) {
      this.#wake = new AbortController();
      await this.#refresh();
      if (!announced && this.#monitors.size > 0) {
        announced = true;
        const synced = Promise.all([...this.#monitors.values()].map((monitor) => monitor.synced));
        void synced.then(() => signal.aborted || ready());
      }
      await sleepUntil(this.#deps.clock, announced ? DISCOVERY_PERIOD_MS : 1000, [signal, this.#wake.signal]);
      if (!signal.aborted) await sleep(this.#deps.clock, DISCOVERY_SOON_MS, signal);
    }
    const monitors = [...this.#monitors.values()];
    for (const monitor of monitors) monitor.stop();
    await Promise.all(monitors.map((monitor) => monitor.ended));
  }

  async #refresh(): Promise<void> {
    const known = this.#discovery;
    try {
      this.#discovery = await discover(this.#deps.client, known);
    } catch (error) {
      this.#deps.log.warn('discovery failed', { error });
      return;
    }
    if (this.#discovery === known) return;
    const wanted = this.#discovery.resources.filter((resource) => canDo(resource, 'list', 'watch', 'delete') && !isIgnored(resource));
    const ids = new Set(wanted.map(idOf));
    for (const [id, monitor] of this.#monitors) {
      if (ids.has(id)) continue;
      monitor.stop();
      this.#monitors.delete(id);
    }
    for (const resource of wanted) {
      if (!this.#monitors.has(idOf(resource))) this.#monitors.set(idOf(resource), this.#start(resource));
    }
  }

  #start(resource: DiscoveredResource): Monitor {
    const informer = createInformer<KubeObject>({ ...this.#deps, resource, transform: onlyMetadata });
    const announce = (object: DeepReadonly<KubeObject>): void => {
      this.#handler.changed(toGraphObject(resource, object));
      if (resource.kind === 'CustomResourceDefinition') this.#wake.abort();
    };
    informer.addHandler({
      added: announce,
      updated: announce,
      deleted: (object) => {
        this.#handler.gone(object.metadata.uid);
        if (resource.kind === 'CustomResourceDefinition') this.#wake.abort();
      },
    });
    const controller = new AbortController();
    const ended = informer.run(controller.signal).then(() => {
      // The kind is no longer served, so nothing of it is left.
      for (const object of informer.list()) this.#handler.gone(object.metadata.uid);
    });
    return { resource, ended, synced: informer.waitForSync(), stop: () => controller.abort(new Error('no longer watched')) };
  }
}

const idOf = (resource: Resource): string => `${resource.group}/${resource.version}/${resource.plural}`;

async function sleepUntil(clock: Clock, delayMs: number, signals: readonly AbortSignal[]): Promise<void> {
  const either = new AbortController();
  const stop = (): void => either.abort();
  for (const signal of signals) {
    if (signal.aborted) stop();
    signal.addEventListener('abort', stop, { once: true });
  }
  await sleep(clock, delayMs, either.signal);
  for (const signal of signals) signal.removeEventListener('abort', stop);
}

function onlyMetadata({ metadata }: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp, ownerReferences, finalizers, deletionTimestamp } = metadata;
  return {
    metadata: {
      name,
      uid,
      resourceVersion,
      creationTimestamp,
      ...omitUndefined({ namespace, ownerReferences, finalizers, deletionTimestamp }),
    },
  };
}

/** The garbage collector's view of an object. */
export function toGraphObject(resource: Resource, { metadata }: DeepReadonly<KubeObject>): GraphObject {
  return {
    uid: metadata.uid,
    resource,
    namespace: metadata.namespace ?? '',
    name: metadata.name,
    resourceVersion: metadata.resourceVersion,
    owners: metadata.ownerReferences ?? [],
    deleting: metadata.deletionTimestamp !== undefined,
    finalizers: metadata.finalizers ?? [],
  };
}
