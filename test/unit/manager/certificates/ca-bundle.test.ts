import { expect, test } from 'vitest';
import { bundleIn, bundlePatch } from '../../../../manager/certificates/ca-bundle.ts';
import { makeKeyPair } from '../../../../manager/certificates/make-key-pair.ts';

const [{ authority: one }, { authority: other }] = await Promise.all([makeKeyPair(['a'], 0), makeKeyPair(['a'], 0)]);
const bundle = (...authorities: { readonly certPem: string }[]): string =>
  Buffer.from(authorities.map(({ certPem }) => certPem).join('')).toString('base64');
const configuration = (...bundles: (string | undefined)[]) => ({
  metadata: { name: 'manager', uid: 'u', resourceVersion: '7' } as never,
  webhooks: bundles.map((caBundle, index) => ({ name: `w${index}`, clientConfig: caBundle === undefined ? {} : { caBundle } })),
});

test('a configuration trusts whom all of its webhooks trust', () => {
  expect(bundleIn(configuration(bundle(one, other), bundle(other)))).toEqual([other]);
  expect(bundleIn(configuration(bundle(one), undefined))).toEqual([]);
  expect(bundleIn(configuration('Cg=='))).toEqual([]);
});

test('it is written for all of its webhooks, if it is still of the version that was read', () => {
  const value = bundle(one, other);
  expect(bundlePatch(configuration(undefined, bundle(one)), [one, other])).toEqual([
    { op: 'replace', path: '/metadata/resourceVersion', value: '7' },
    { op: 'add', path: '/webhooks/0/clientConfig/caBundle', value },
    { op: 'add', path: '/webhooks/1/clientConfig/caBundle', value },
  ]);
});
