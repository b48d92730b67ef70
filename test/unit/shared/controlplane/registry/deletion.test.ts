import { describe, expect, test } from 'vitest';
import type { DeleteOptions } from '../../../../../shared/controlplane/registry/delete-options.ts';
import { decideDeletion } from '../../../../../shared/controlplane/registry/deletion.ts';
import { createServedResources, type ServedResource } from '../../../../../shared/controlplane/resources/served-resources.ts';
import { createStore } from '../../../../../shared/controlplane/storage/store.ts';
import type { AnyMeta, AnyObject } from '../../../../../shared/controlplane/apimachinery/object.ts';
import type { ResourceStrategy } from '../../../../../shared/controlplane/resources/strategy.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';

const NOW = Date.UTC(2026, 0, 1);
const at = (seconds: number): string => new Date(NOW + seconds * 1000).toISOString().replace('.000', '');

const resource = (strategy: ResourceStrategy): ServedResource => {
  const resources = createServedResources(createStore({ clock: new FakeClock() }));
  const names = { kind: 'Thing', plural: 'things', singular: 'thing', listKind: 'ThingList', shortNames: [], categories: [] };
  resources.add(
    { group: '', version: 'v1', namespaced: true, strategy, ...names },
    { kind: 'object', name: 'Thing', fields: new Map() },
    false,
  );
  const served = resources.find('', 'v1', 'things');
  if (served === undefined) throw new Error('not served');
  return served;
};
const object = (metadata: Partial<AnyMeta> = {}): AnyObject => ({
  metadata: { name: 'x', namespace: 'ns', uid: 'u', resourceVersion: '7', creationTimestamp: at(-100), ...metadata },
});
const options = (more: Partial<DeleteOptions> = {}): DeleteOptions => ({
  gracePeriodSeconds: undefined,
  propagationPolicy: undefined,
  orphanDependents: undefined,
  preconditions: {},
  dryRun: false,
  ...more,
});
/** As a bound pod has it: 30 seconds unless the options say otherwise. */
const graceful: ResourceStrategy = { gracePeriodSeconds: (_object, requested) => requested ?? 30 };

describe('an object without grace period', () => {
  const plain = resource({});
  const orphaning = resource({ defaultPropagation: 'orphan' });

  test('goes at once when nothing holds it', () => {
    expect(decideDeletion(plain, object(), options(), NOW)).toEqual({ kind: 'remove' });
  });

  test('is marked, with one more generation, while it has finalizers', () => {
    const deletion = decideDeletion(plain, object({ finalizers: ['e.com/a'], generation: 3 }), options(), NOW);
    expect(deletion).toMatchObject({
      kind: 'mark',
      next: { metadata: { deletionTimestamp: at(0), deletionGracePeriodSeconds: 0, finalizers: ['e.com/a'], generation: 4 } },
    });
  });

  test.each([
    [{ propagationPolicy: 'Foreground' }, ['e.com/a', 'foregroundDeletion']],
    [{ propagationPolicy: 'Orphan' }, ['e.com/a', 'orphan']],
    [{ orphanDependents: true }, ['e.com/a', 'orphan']],
    [{ propagationPolicy: 'Background' }, ['e.com/a']],
    [{}, ['e.com/a']],
  ])('gets the finalizer of the policy: %j', (more, finalizers) => {
    const deletion = decideDeletion(plain, object({ finalizers: ['e.com/a'] }), options(more), NOW);
    expect(deletion).toMatchObject({ next: { metadata: { finalizers } } });
  });

  test('keeps the policy that one of its finalizers has chosen, in its place', () => {
    const deletion = decideDeletion(plain, object({ finalizers: ['foregroundDeletion', 'e.com/b'] }), options(), NOW);
    expect(deletion).toMatchObject({ next: { metadata: { finalizers: ['foregroundDeletion', 'e.com/b'] } } });
  });

  test('is orphaned by default where its kind says so, and goes in the background only when asked to', () => {
    expect(decideDeletion(orphaning, object(), options(), NOW)).toMatchObject({
      kind: 'mark',
      next: { metadata: { finalizers: ['orphan'] } },
    });
    expect(decideDeletion(orphaning, object(), options({ propagationPolicy: 'Background' }), NOW)).toEqual({ kind: 'remove' });
  });

  test('loses the waiting finalizer when a second deletion asks for the background', () => {
    const waiting = object({ deletionTimestamp: at(-5), deletionGracePeriodSeconds: 0, finalizers: ['foregroundDeletion'] });
    expect(decideDeletion(plain, waiting, options({ propagationPolicy: 'Background' }), NOW)).toEqual({ kind: 'remove' });
  });

  test('stays when it is not the one that was meant', () => {
    const other = { preconditions: { uid: 'v' } };
    expect(() => decideDeletion(plain, object(), options(other), NOW)).toThrow('the UID in the precondition (v) does not match');
    const older = { preconditions: { resourceVersion: '6' } };
    expect(() => decideDeletion(plain, object(), options(older), NOW)).toThrow('the ResourceVersion in the precondition (6)');
  });
});

describe('an object with a grace period', () => {
  const pods = resource(graceful);
  const terminating = (seconds: number, more: Partial<AnyMeta> = {}): AnyObject =>
    object({ deletionTimestamp: at(20), deletionGracePeriodSeconds: seconds, ...more });

  test('is marked with the end of its period', () => {
    expect(decideDeletion(pods, object({ generation: 1 }), options(), NOW)).toMatchObject({
      kind: 'mark',
      next: { metadata: { deletionTimestamp: at(30), deletionGracePeriodSeconds: 30, generation: 2 } },
    });
  });

  test('is marked and removed by two writes when the period is zero', () => {
    const deletion = decideDeletion(pods, object(), options({ gracePeriodSeconds: 0 }), NOW);
    expect(deletion).toMatchObject({ kind: 'mark-and-remove', next: { metadata: { deletionGracePeriodSeconds: 0 } } });
  });

  test('is only marked when the period is zero and a finalizer holds it', () => {
    const deletion = decideDeletion(pods, object({ finalizers: ['e.com/a'] }), options({ gracePeriodSeconds: 0 }), NOW);
    expect(deletion).toMatchObject({ kind: 'mark', next: { metadata: { finalizers: ['e.com/a'] } } });
  });

  test.each([[undefined], [30], [60]])('is not touched again by a deletion that is not quicker: %s', (gracePeriodSeconds) => {
    expect(decideDeletion(pods, terminating(30), options({ gracePeriodSeconds }), NOW)).toEqual({ kind: 'keep' });
  });

  test('ends sooner when a shorter period is asked for', () => {
    const deletion = decideDeletion(pods, terminating(30), options({ gracePeriodSeconds: 15 }), NOW);
    expect(deletion).toMatchObject({ kind: 'mark', next: { metadata: { deletionTimestamp: at(5), deletionGracePeriodSeconds: 15 } } });
  });

  test('ends now, with one second, when the shorter period would be over already', () => {
    const deletion = decideDeletion(pods, terminating(30), options({ gracePeriodSeconds: 5 }), NOW);
    expect(deletion).toMatchObject({ kind: 'mark', next: { metadata: { deletionTimestamp: at(0), deletionGracePeriodSeconds: 1 } } });
  });

  test('is removed by a deletion with period zero', () => {
    expect(decideDeletion(pods, terminating(30), options({ gracePeriodSeconds: 0 }), NOW)).toMatchObject({ kind: 'mark-and-remove' });
  });
});
