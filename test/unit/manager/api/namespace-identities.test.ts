import { expect, test } from 'vitest';
import { createNamespaceIdentities } from '../../../../manager/api/namespace-identities.ts';
import type { Namespace } from '../../../../shared/api/kubernetes.ts';
import type { EventHandler } from '../../../../shared/kube/informer.ts';

const aNamespace = (uid: string): Namespace =>
  ({ metadata: { name: 'team', uid, creationTimestamp: '2026-01-01T00:00:00Z' } }) as Namespace;

test('a name means the namespace that has it now, and it is told when one goes, also where only the next one is seen', () => {
  let now: Namespace | undefined = aNamespace('n1');
  let handler: EventHandler<Namespace> = {};
  const identities = createNamespaceIdentities({ get: () => now, addHandler: (added) => void (handler = added) });
  const gone: string[] = [];
  const unsubscribe = identities.onGone((name) => gone.push(name));
  expect(identities.of('team')).toEqual({ name: 'team', uid: 'n1', createdMs: Date.parse('2026-01-01T00:00:00Z') });
  handler.updated?.(aNamespace('n1'), aNamespace('n1'));
  expect([gone, identities.gone]).toEqual([[], 0]);
  now = aNamespace('n2');
  handler.updated?.(now, aNamespace('n1'));
  expect([gone, identities.gone, identities.of('team')?.uid]).toEqual([['team'], 1, 'n2']);
  now = undefined;
  handler.deleted?.(aNamespace('n2'), false);
  expect([gone, identities.gone, identities.of('team')]).toEqual([['team', 'team'], 2, undefined]);
  unsubscribe();
  handler.deleted?.(aNamespace('n3'), false);
  expect([gone.length, identities.gone]).toEqual([2, 3]);
});
