import { describe, expect, test } from 'vitest';
import {
  decideCertificates,
  RENEWED_BEFORE_MS,
  TRUSTED_AFTER_MS,
  VALID_MS,
  type Situation,
} from '../../../../manager/certificates/decide-certificates.ts';
import { makeKeyPair } from '../../../../manager/certificates/make-key-pair.ts';

const NOW_MS = Date.UTC(2026, 5, 1);
const NAMES = ['a.b.svc'];
const [current, next, old] = await Promise.all([
  makeKeyPair(NAMES, NOW_MS - VALID_MS + RENEWED_BEFORE_MS),
  makeKeyPair(NAMES, NOW_MS),
  makeKeyPair(NAMES, NOW_MS - VALID_MS - 1_000),
]);
const inRotation = { current, next, authorities: [current.authority, next.authority] };
const decide = (parts: Partial<Situation>) =>
  decideCertificates({
    nowMs: NOW_MS,
    secret: inRotation,
    shown: current,
    bundles: [inRotation.authorities],
    nextTrustedMs: 0,
    names: NAMES,
    ...parts,
  });

describe('the next step', () => {
  test('without a Secret is to make one, or to put back what is shown, with a successor', () => {
    expect(decide({ secret: undefined, shown: undefined })).toMatchObject({
      kind: 'Write',
      current: 'Made',
      next: undefined,
      authorities: [],
    });
    expect(decide({ secret: undefined })).toMatchObject({ kind: 'Write', current, next: 'Made', authorities: [current.authority] });
  });

  test('with a certificate that has ended is to show its successor, whether or not that is trusted yet', () => {
    const secret = { current: old, next, authorities: [old.authority, next.authority] };
    expect(decide({ secret, shown: old })).toMatchObject({ kind: 'Write', current: next, next: undefined, authorities: [next.authority] });
  });

  test('within 30 days of the end is to make a successor, which is trusted before it is shown', () => {
    const secret = { current, next: undefined, authorities: [current.authority] };
    expect(decide({ secret, bundles: [secret.authorities] })).toMatchObject({ kind: 'Write', current, next: 'Made' });
    expect(decide({ nowMs: NOW_MS - 1_000, secret, bundles: [secret.authorities] }).kind).toBe('Wait');
    expect(decide({ bundles: [inRotation.authorities, [current.authority]] })).toEqual({
      kind: 'Publish',
      index: 1,
      authorities: inRotation.authorities,
    });
    expect(decide({ nextTrustedMs: TRUSTED_AFTER_MS - 1 })).toMatchObject({ kind: 'Wait' });
    expect(decide({ nextTrustedMs: TRUSTED_AFTER_MS })).toMatchObject({
      kind: 'Write',
      current: next,
      next: undefined,
      authorities: inRotation.authorities,
    });
  });

  test('never takes an authority away that may still be shown somewhere, however the Secret looks from here', () => {
    const secret = { current, next: undefined, authorities: [current.authority] };
    const step = decide({ nowMs: NOW_MS - 1_000, secret, bundles: [[next.authority, current.authority]] });
    expect(step).toMatchObject({ kind: 'Wait' });
  });

  test('takes away an authority whose certificate has ended', () => {
    expect(decide({ bundles: [[old.authority, ...inRotation.authorities]] })).toMatchObject({
      kind: 'Publish',
      authorities: inRotation.authorities,
    });
    expect(decide({ secret: { ...inRotation, authorities: [old.authority, ...inRotation.authorities] } })).toMatchObject({
      kind: 'Write',
      current,
      next,
      authorities: inRotation.authorities,
    });
  });

  test('without knowing the configurations is to wait: nothing is shown of which nobody knows who trusts it', () => {
    expect(decide({ bundles: undefined })).toMatchObject({ kind: 'Wait' });
  });

  test('for other names is to make a successor', () => {
    const secret = { current: next, next: undefined, authorities: [next.authority] };
    expect(decide({ secret, bundles: [], names: ['c.b.svc'] })).toMatchObject({ kind: 'Write', current: next, next: 'Made' });
    expect(decide({ secret, bundles: [] })).toMatchObject({ kind: 'Wait' });
  });
});
