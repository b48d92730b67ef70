import type { KubeObject, ObjectKey } from '../api/kubernetes.ts';
import type { Resource } from '../api/resources.ts';
import type { Informer } from './informer.ts';
import { isOlder } from './resource-version.ts';

/**
 * One informer over the objects of several, which have no key in common: `partOf` names the one that an object of this key belongs to. It
 * promises what an {@link Informer} promises, and is synced when all of them are. `resource` stands for all of their resources.
 */
export function createInformerOfParts<T extends KubeObject>(
  resource: Resource<T>,
  parts: ReadonlyMap<string, Informer<T>>,
  partOf: (key: ObjectKey) => string,
): Informer<T> {
  const all = [...parts.values()];
  return {
    resource,
    get: (key) => parts.get(partOf(key))?.get(key),
    list: (namespace) => all.flatMap((part) => part.list(namespace)),
    byIndex: (index, value) => all.flatMap((part) => part.byIndex(index, value)),
    addHandler(handler) {
      for (const part of all) part.addHandler(handler);
    },
    async run(signal) {
      await Promise.all(all.map((part) => part.run(signal)));
    },
    hasSynced: () => all.every((part) => part.hasSynced()),
    async waitForSync(signal) {
      await Promise.all(all.map((part) => part.waitForSync(signal)));
    },
    lastResourceVersion(namespace, name) {
      if (name !== undefined) return parts.get(partOf({ namespace: namespace ?? '', name }))?.lastResourceVersion(namespace, name) ?? '';
      // The one that lags behind counts: a version says that everything up to it is cached.
      const [first = '', ...others] = all.map((part) => part.lastResourceVersion(namespace));
      return others.reduce((least, each) => (isOlder(least, each) ? least : each), first);
    },
    async catchUp(signal, namespace) {
      await Promise.all(all.map((part) => part.catchUp(signal, namespace)));
    },
    willCatchUp() {
      for (const part of all) part.willCatchUp();
    },
    lastHeardMs: () => Math.min(...all.map((part) => part.lastHeardMs())),
  };
}
