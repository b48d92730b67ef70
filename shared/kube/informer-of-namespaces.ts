import type { KubeObject } from '../api/kubernetes.ts';
import type { Resource } from '../api/resources.ts';
import type { Informer } from './informer.ts';

/**
 * One informer over some namespaces, made of one for each: who may not list in all namespaces lists and watches in those that they may. It
 * promises what an {@link Informer} promises, and asks for no other namespace. It is synced when all of them are.
 */
export function createInformerOfNamespaces<T extends KubeObject>(
  resource: Resource<T>,
  namespaces: readonly string[],
  create: (namespace: string) => Informer<T>,
): Informer<T> {
  const informers = new Map([...new Set(namespaces)].map((namespace) => [namespace, create(namespace)]));
  const all = [...informers.values()];
  return {
    resource,
    get: (key) => informers.get(key.namespace ?? '')?.get(key),
    list: (namespace = '') => (namespace === '' ? all.flatMap((each) => each.list()) : (informers.get(namespace)?.list(namespace) ?? [])),
    byIndex: (index, value) => all.flatMap((each) => each.byIndex(index, value)),
    addHandler(handler) {
      for (const each of all) each.addHandler(handler);
    },
    async run(signal) {
      await Promise.all(all.map((each) => each.run(signal)));
    },
    hasSynced: () => all.every((each) => each.hasSynced()),
    async waitForSync(signal) {
      await Promise.all(all.map((each) => each.waitForSync(signal)));
    },
    // Each namespace is watched from a place of its own.
    lastResourceVersion: (namespace = '') => informers.get(namespace)?.lastResourceVersion() ?? '',
    async catchUp(signal, namespace = '') {
      const concerned = namespace === '' ? all : [...informers].flatMap(([name, each]) => (name === namespace ? [each] : []));
      await Promise.all(concerned.map((each) => each.catchUp(signal)));
    },
    willCatchUp() {
      for (const each of all) each.willCatchUp();
    },
    lastHeardMs: () => Math.min(...all.map((each) => each.lastHeardMs())),
  };
}
