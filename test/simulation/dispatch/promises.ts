/** What is promised of an installation, judged by the pods on the worker clusters. */
import { parseQuantity } from '../../../shared/kube/quantity.ts';
import { type HeldPod, reservedFor } from './yard-history.ts';
import type { Team } from './yard.ts';

/** No team holds more than its quota, on all clusters together. A team is told by the namespace of the pods. */
export function quotaKept(held: readonly HeldPod[], teams: readonly Team[]): string[] {
  return teams.flatMap(({ namespace, quota }) => {
    const theirs = held.filter(({ pod }) => pod.metadata.namespace === namespace);
    return Object.entries(quota).flatMap(([resource, nominal]) => {
      const used = theirs.reduce((total, { pod }) => total + (reservedFor(pod).get(resource) ?? 0n), 0n);
      if (used <= parseQuantity(nominal).nanos) return [];
      const pods = theirs.map(({ cluster, pod }) => `${cluster}/${pod.metadata.name}`).join(', ');
      return [`${namespace} holds ${Number(used) / 1e9} ${resource} of ${nominal}: ${pods}`];
    });
  });
}

/** Nothing runs outside the namespaces of these teams, and nothing that no copy of ours has made. */
export function namespacesKept(held: readonly HeldPod[], namespaces: readonly string[]): string[] {
  return held.flatMap(({ cluster, pod, copy }) => {
    const where = `${cluster}: pod ${pod.metadata.namespace}/${pod.metadata.name}`;
    if (!namespaces.includes(pod.metadata.namespace ?? '')) return [`${where} runs outside of ${namespaces.join(', ')}`];
    return copy === undefined ? [`${where} was made by no copy`] : [];
  });
}

/** Of each Job at most one copy holds pods. */
export function oneCopyRuns(held: readonly HeldPod[]): string[] {
  const copies = new Map<string, Map<string, HeldPod>>();
  for (const each of held) {
    if (each.copy === undefined) continue;
    const known = copies.get(each.copy.originUid) ?? new Map<string, HeldPod>();
    copies.set(each.copy.originUid, known.set(each.copy.uid, each));
  }
  return [...copies.values()]
    .filter((each) => each.size > 1)
    .map((each) => `${[...each.values()].map(({ cluster, pod }) => `${cluster}/${pod.metadata.name}`).join(' and ')} run for one Job`);
}
