import { expect, test } from 'vitest';
import type { Pod } from '../../../../shared/api/kubernetes.ts';
import { endedPodOf } from '../../../../worker/logs/ended-pod.ts';
import { hasEnded, isReported, viewEnd } from '../../../../worker/kinds/reported-ends.ts';

const at = (seconds: number): string => `2026-01-01T00:00:${String(seconds).padStart(2, '0')}Z`;
type Parts = { readonly phase?: string; readonly endedAt?: number; readonly deletedAt?: number };
/** `deletedAt`: when its deletion was asked for, with a grace period of 10 s. */
const aPod = ({ phase = 'Running', endedAt, deletedAt }: Parts): Pod =>
  ({
    metadata: {
      namespace: 'team',
      name: 'oars',
      uid: 'u',
      creationTimestamp: at(0),
      ...(deletedAt === undefined ? {} : { deletionTimestamp: at(deletedAt + 10), deletionGracePeriodSeconds: 10 }),
    },
    spec: { containers: [] },
    status: {
      phase,
      containerStatuses: endedAt === undefined ? [] : [{ name: 'main', state: { terminated: { exitCode: 3, finishedAt: at(endedAt) } } }],
    },
  }) as never;
const phaseOf = (parts: Parts): string => endedPodOf(viewEnd(aPod(parts)), undefined).phase;

test('a pod has ended when its containers have, or when it is told to stop', () => {
  expect([aPod({}), aPod({ phase: 'Failed' }), aPod({ phase: 'Succeeded' }), aPod({ deletedAt: 5 })].map(hasEnded)).toEqual([
    false,
    true,
    true,
    true,
  ]);
});

test('one that is stopped has not failed, whatever it exits with, and one that failed before it was deleted has', () => {
  expect(phaseOf({ deletedAt: 5 })).toBe('Stopped');
  expect(phaseOf({ phase: 'Failed', endedAt: 6, deletedAt: 5 })).toBe('Stopped');
  expect(phaseOf({ phase: 'Failed', endedAt: 4, deletedAt: 5 })).toBe('Failed');
  expect(phaseOf({ phase: 'Failed', endedAt: 4 })).toBe('Failed');
  expect(phaseOf({ phase: 'Succeeded', endedAt: 6, deletedAt: 5 })).toBe('Succeeded');
});

test('an end is told once, and that of a later pod of the same name again', () => {
  const first = viewEnd(aPod({ phase: 'Failed', endedAt: 4 }));
  const told = [endedPodOf(first, { lastLine: 'the oar broke', kept: true })];
  expect([isReported([], first), isReported(told, first), isReported(told, viewEnd(aPod({ phase: 'Failed', endedAt: 9 })))]).toEqual([
    false,
    true,
    false,
  ]);
});
