import { describe, expect, test } from 'vitest';
import {
  inPreferredOrder,
  isPreferred,
  worstMode,
  type FlavorMode,
  type Fungibility,
} from '../../../../../manager/admission/flavors/flavor-fungibility.ts';

const DEFAULT: Fungibility = {
  whenCanBorrow: 'MayStopSearch',
  whenCanPreempt: 'TryNextFlavor',
  flavorPreference: 'BorrowingOverPreemption',
};
const NEXT: Fungibility = { ...DEFAULT, whenCanBorrow: 'TryNextFlavor' };
const RATHER_PREEMPT: Fungibility = { ...NEXT, flavorPreference: 'PreemptionOverBorrowing' };
/** `Fit`, `Preempt 1`: with how much borrowing. */
const offer = (text: string): FlavorMode => {
  const [mode, borrowing = '0'] = text.split(' ');
  return { mode: mode as FlavorMode['mode'], borrowing: Number(borrowing) };
};
const order = (offers: readonly string[], fungibility: Fungibility): string[] =>
  inPreferredOrder(
    offers.map((text) => ({ text, offer: offer(text) })),
    fungibility,
  ).map(({ text }) => text);

describe('the order of flavors', () => {
  test.each<[string, Fungibility, string[], string[]]>([
    ['the first that is free', DEFAULT, ['Fit', 'Fit'], ['Fit', 'Fit']],
    ['one that borrows is as good, unless the queue says otherwise', DEFAULT, ['Fit 1', 'Fit'], ['Fit 1', 'Fit']],
    ['TryNextFlavor: who borrows less far goes first', NEXT, ['Fit 2', 'Fit 1', 'Fit'], ['Fit', 'Fit 1', 'Fit 2']],
    ['one that is free goes before one that would have to preempt', DEFAULT, ['Preempt', 'Fit 1'], ['Fit 1', 'Preempt']],
    [
      'unless the search stops at one where it can',
      { ...DEFAULT, whenCanPreempt: 'MayStopSearch' },
      ['Preempt', 'Fit'],
      ['Preempt', 'Fit'],
    ],
    [
      'it does not stop where there is nobody to preempt',
      { ...DEFAULT, whenCanPreempt: 'MayStopSearch' },
      ['NoCandidates', 'Reclaim', 'Fit'],
      ['Reclaim', 'Fit', 'NoCandidates'],
    ],
    ['among those that preempt, reclaiming goes before its own queue', DEFAULT, ['Preempt', 'Reclaim'], ['Reclaim', 'Preempt']],
    ['reclaiming goes first though it borrows', NEXT, ['Preempt', 'Reclaim 1'], ['Reclaim 1', 'Preempt']],
    ['PreemptionOverBorrowing: rather preempt than borrow', RATHER_PREEMPT, ['Fit 1', 'Preempt'], ['Preempt', 'Fit 1']],
    ['but only where there is somebody', RATHER_PREEMPT, ['Fit 1', 'NoCandidates'], ['Fit 1', 'NoCandidates']],
    [
      'where nobody is to be preempted, by how far it borrows',
      DEFAULT,
      ['NoCandidates 2', 'NoCandidates 1'],
      ['NoCandidates 1', 'NoCandidates 2'],
    ],
    ['the first of equals', NEXT, ['Preempt', 'Fit 1', 'Preempt'], ['Fit 1', 'Preempt', 'Preempt']],
    ['none of none', DEFAULT, [], []],
  ])('%s', (_, fungibility, offers, ordered) => {
    expect(order(offers, fungibility)).toEqual(ordered);
  });
});

test('a flavor is as good as it is for the resource that it is worst for', () => {
  expect(worstMode(['Fit', 'Preempt', 'Fit 1'].map(offer), DEFAULT)).toEqual(offer('Preempt'));
  expect(worstMode(['Fit 2', 'Fit 1'].map(offer), DEFAULT)).toEqual(offer('Fit 2'));
  expect(worstMode([], DEFAULT)).toEqual(offer('Fit'));
});

test('none is preferred to itself', () => {
  for (const mode of ['NoCandidates', 'Preempt', 'Reclaim 1', 'Fit']) expect(isPreferred(offer(mode), offer(mode), DEFAULT)).toBe(false);
});
