import { describe, expect, test } from 'vitest';
import { judgeLease, type KnownLease } from '../../../../../manager/dispatch/lease/lease-judgement.ts';

const US = { homeUid: 'home-1', instance: 'b' };
const lease = (parts: Partial<KnownLease>): KnownLease => ({
  holder: undefined,
  released: false,
  unchangedMs: 0,
  durationMs: 40_000,
  ...parts,
});

describe('the Lease of an origin on a worker cluster', () => {
  test.each([
    ['is made where there is none', undefined, false, 'Create'],
    ['is renewed by who holds it', lease({ holder: US, unchangedMs: 90_000 }), true, 'Renew'],
    ['is taken over at once where it was let go of', lease({ released: true }), true, 'TakeOver'],
    ['goes at once to the leader that follows', lease({ holder: { homeUid: 'home-1', instance: 'a' } }), false, 'TakeOver'],
    ['is not taken back from who has taken it from us', lease({ holder: { homeUid: 'home-1', instance: 'a' } }), true, 'Refuse'],
    ['is left to the manager of another cluster', lease({ holder: { homeUid: 'home-2', instance: 'a' } }), false, 'Refuse'],
    ['is left to somebody who is no manager', lease({ holder: undefined }), false, 'Refuse'],
    [
      'is left to another who has been silent for less than its duration',
      lease({ holder: { homeUid: 'home-2', instance: 'a' }, unchangedMs: 39_999 }),
      false,
      'Refuse',
    ],
    [
      'is taken from another who has been silent for its duration',
      lease({ holder: { homeUid: 'home-2', instance: 'a' }, unchangedMs: 40_000 }),
      false,
      'TakeOver',
    ],
    [
      'is taken back from a successor that has died',
      lease({ holder: { homeUid: 'home-1', instance: 'a' }, unchangedMs: 40_000 }),
      true,
      'TakeOver',
    ],
    ['is taken from who is no manager when that is silent', lease({ holder: undefined, unchangedMs: 40_000 }), true, 'TakeOver'],
  ])('%s', (_what, known, hadBefore, step) => {
    expect(judgeLease(known, US, hadBefore)).toBe(step);
  });
});
