import { expect, test } from 'vitest';
import { recordedPlace, type KnownPlaces } from '../../../../../manager/dispatch/mirror/recorded-place.ts';

/** WorkerClusters by name, with the UIDs of their clusters where those are known. */
const known = (clusters: Readonly<Record<string, string | undefined>>): KnownPlaces => ({
  has: (name) => Object.hasOwn(clusters, name),
  uidOf: (name) => clusters[name],
  nameOf: (uid) => Object.keys(clusters).find((name) => clusters[name] === uid),
});
const EU = { cluster: 'eu-1', clusterUID: 'uid-eu' };

test('a Job is where the cluster of its record is, whatever that is called now', () => {
  expect(recordedPlace(EU, known({ 'eu-1': 'uid-eu' }))).toEqual({ kind: 'Known', cluster: 'eu-1' });
  expect(recordedPlace(EU, known({ 'eu-2': 'uid-eu' }))).toEqual({ kind: 'Known', cluster: 'eu-2' });
  expect(recordedPlace(EU, known({ 'eu-1': 'uid-us', 'eu-2': 'uid-eu' }))).toEqual({ kind: 'Known', cluster: 'eu-2' });
});

test('a name that leads to another cluster now is not the place of the Job', () => {
  expect(recordedPlace(EU, known({ 'eu-1': 'uid-us' }))).toEqual({ kind: 'Changed', cluster: 'eu-1', uid: 'uid-us' });
});

test('while it is not known which cluster has the name, it may be the recorded one', () => {
  expect(recordedPlace(EU, known({ 'eu-1': undefined }))).toEqual({ kind: 'Known', cluster: 'eu-1' });
  expect(recordedPlace(EU, known({ 'us-2': 'uid-us' }))).toEqual({ kind: 'Unknown' });
});

test('of a record that says no more than the name, the name counts', () => {
  expect(recordedPlace({ cluster: 'eu-1' }, known({ 'eu-1': 'uid-us' }))).toEqual({ kind: 'Known', cluster: 'eu-1' });
  expect(recordedPlace({ cluster: 'eu-1' }, known({}))).toEqual({ kind: 'Unknown' });
});
