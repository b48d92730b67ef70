import { describe, expect, test } from 'vitest';
import { decideFencedCopy, type FencedCopy } from '../../../../worker/kinds/fenced-copy.ts';

const NOW_MS = 100_000;
const copy = (changes: Partial<FencedCopy> = {}): FencedCopy => ({
  fence: 'Fenced',
  suspended: true,
  marked: true,
  deleting: false,
  stoppedSinceMs: NOW_MS - 60_000,
  pods: 0,
  ...changes,
});
const step = (changes: Partial<FencedCopy>) => decideFencedCopy(copy(changes), NOW_MS);

describe('while the fence is tripped', () => {
  test('a copy that runs is suspended, also one that was resumed by hand', () => {
    expect(step({ suspended: false, marked: false, stoppedSinceMs: undefined })).toEqual({ kind: 'Suspend', isLate: false });
    expect(step({ suspended: false, marked: true })).toEqual({ kind: 'Suspend', isLate: true });
  });
  test('its operator has ten seconds to stop it', () => {
    expect(step({ pods: 2, stoppedSinceMs: NOW_MS - 4_000 })).toEqual({ kind: 'Wait', forMs: 6_000 });
    expect(step({ pods: 2, stoppedSinceMs: undefined })).toEqual({ kind: 'Wait', forMs: 10_000 });
  });
  test('then its pods are deleted', () => expect(step({ pods: 1 })).toEqual({ kind: 'DeletePods' }));
  test('without pods nothing is left to do', () => expect(step({})).toEqual({ kind: 'Nothing' }));
  test('one that is being deleted is not suspended, but loses its pods', () =>
    expect(step({ suspended: false, deleting: true, pods: 1 })).toEqual({ kind: 'DeletePods' }));
});

describe('once the fence is open', () => {
  test('what the worker has suspended is resumed', () => expect(step({ fence: 'Open' })).toEqual({ kind: 'Resume' }));
  test('not before its pods have ended', () => expect(step({ fence: 'Open', pods: 1 })).toEqual({ kind: 'Nothing' }));
  test('what others have suspended is not', () => expect(step({ fence: 'Open', marked: false })).toEqual({ kind: 'Nothing' }));
  test('what is being deleted is not', () => expect(step({ fence: 'Open', deleting: true })).toEqual({ kind: 'Nothing' }));
});

test('while it is not known whether the manager is in reach, all stays as it is', () => {
  for (const suspended of [true, false]) expect(step({ fence: 'Hold', suspended, pods: 1 })).toEqual({ kind: 'Nothing' });
});
