import { beforeEach, expect, test } from 'vitest';
import { createLeaderTerm } from '../../../../../manager/dispatch/lease/leader-term.ts';
import { seededRandom } from '../../../../../shared/runtime/random.ts';

let told: string[] = [];
beforeEach(() => {
  told = [];
});
const term = (seed: number, homeUid: string | undefined = 'home-1') =>
  createLeaderTerm({
    origin: 'm1',
    keys: { current: Buffer.alloc(32, 'k'), others: [] },
    homeUID: () => homeUid,
    homeHistory: { takeStoredVersion: (version) => told.push(version), versionToStore: () => '12' },
    random: seededRandom(seed),
  });

test('each term is an instance of its own, on the one cluster that is home', () => {
  const [one, other] = [term(1).holder(), term(2).holder()];
  expect(one).toEqual({ homeUid: 'home-1', instance: expect.stringMatching(/^[0-9a-f]{16}$/) });
  expect(other?.instance).not.toBe(one?.instance);
});

test('nobody holds anything while it is not known which cluster is home', () => {
  const unknown = createLeaderTerm({
    origin: 'm1',
    keys: { current: Buffer.alloc(32, 'k'), others: [] },
    homeUID: () => undefined,
    homeHistory: { takeStoredVersion: () => undefined, versionToStore: () => '' },
    random: seededRandom(1),
  });
  expect(unknown.holder()).toBeUndefined();
});

test('what was held is remembered by the cluster', () => {
  const one = term(1);
  one.held('uid-1');
  expect([one.hasHeld('uid-1'), one.hasHeld('uid-2')]).toEqual([true, false]);
});

test('a version is sealed for its own manager cluster', () => {
  const sealed = term(1).homeVersion();
  term(2).takeHomeVersion(sealed);
  term(2, 'home-2').takeHomeVersion(sealed);
  expect(told).toEqual(['12', '']);
  expect([term(2).isHomeVersion(sealed), term(2, 'home-2').isHomeVersion(sealed)]).toEqual([true, false]);
});
