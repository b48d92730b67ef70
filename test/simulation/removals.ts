/** What workers have asked for to get rid of pods, pod by pod, and which pods a cluster does not let go. */
import type { TransportRequest } from '../../shared/kube/transport.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Attempt } from '../support/invariants/invariant.ts';
import type { Dice } from './dice.ts';

export interface Removals {
  /** Notes a call that removes a pod or its finalizer. To be told when it has failed. */
  note(request: TransportRequest): () => void;
  /** How this deletion fails; undefined when it may go through. What a pod is like is decided when it is first to be deleted. */
  protectionOf(request: TransportRequest, share: number): 'deletion refused' | 'deletion timed out' | undefined;
  /** The pod may not be deleted for the time being. */
  isProtected(namespace: string, name: string): boolean;
  finalizerRemovals(namespace: string, name: string): readonly Attempt[];
  deletions(namespace: string, name: string): readonly Attempt[];
}

export function createRemovals(clock: Clock, dice: Dice): Removals {
  const attempts = new Map<string, Attempt[]>();
  /** Until when; `undefined` stands for a pod that may be deleted. */
  const protections = new Map<string, { readonly untilMs: number; readonly byTimeOut: boolean } | undefined>();
  const pathOf = (namespace: string, name: string): string => `/api/v1/namespaces/${namespace}/pods/${name}`;
  const attemptsOf = (key: string): Attempt[] => {
    const known = attempts.get(key) ?? [];
    attempts.set(key, known);
    return known;
  };

  return {
    note({ method, path, body = '' }) {
      const isRemoval = method === 'DELETE' || (method === 'PATCH' && body.includes('$deleteFromPrimitiveList/finalizers'));
      if (!isRemoval || !path.includes('/pods/')) return () => undefined;
      const attempt: Attempt = { sentMs: clock.now(), failedMs: undefined };
      attemptsOf(`${method} ${path.split('?')[0]}`).push(attempt);
      return () => (attempt.failedMs = clock.now());
    },
    protectionOf({ path: pathAndQuery }, share) {
      const [path = ''] = pathAndQuery.split('?');
      if (!protections.has(path) && share > 0) protections.set(path, dice.chance(share) ? protection() : undefined);
      const known = protections.get(path);
      if (known === undefined || known.untilMs <= clock.now()) return undefined;
      return known.byTimeOut ? 'deletion timed out' : 'deletion refused';
    },
    isProtected: (namespace, name) => (protections.get(pathOf(namespace, name))?.untilMs ?? 0) > clock.now(),
    finalizerRemovals: (namespace, name) => attemptsOf(`PATCH ${pathOf(namespace, name)}`),
    deletions: (namespace, name) => attemptsOf(`DELETE ${pathOf(namespace, name)}`),
  };

  function protection() {
    const untilMs = dice.chance(0.3) ? Number.POSITIVE_INFINITY : clock.now() + dice.pick([1, 1500, 5000, 60_000]);
    return { untilMs, byTimeOut: dice.chance(0.25) };
  }
}
