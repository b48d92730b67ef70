import { expect, test } from 'vitest';
import { endedPodsKept } from '../../../../../manager/work-kind/copy/ended-pods-kept.ts';
import { ENDED_PODS_BYTES_MAX } from '../../../../../shared/api/ended-pods.ts';
import { ENDED_PODS_ANNOTATION } from '../../../../../shared/api/names.ts';

const annotations = (pods: readonly object[]): object => ({ [ENDED_PODS_ANNOTATION]: JSON.stringify(pods), more: 'x' });
const PODS = [
  { pod: 'a', phase: 'Failed', exitCode: 1 },
  { pod: 'b', phase: 'Failed', exitCode: 2, tail: true },
  { pod: 'c', phase: 'Succeeded' },
];

test('a copy that leaves keeps all ends, one that runs the last failure, without a tail that nobody reads yet', () => {
  expect(endedPodsKept(annotations(PODS), true)).toEqual({ [ENDED_PODS_ANNOTATION]: JSON.stringify(PODS) });
  expect(endedPodsKept(annotations(PODS), false)).toEqual({ [ENDED_PODS_ANNOTATION]: '[{"pod":"b","phase":"Failed","exitCode":2}]' });
  expect(endedPodsKept(annotations(PODS.slice(2)), false)).toEqual({});
});

test.each([undefined, 'x', {}, { [ENDED_PODS_ANNOTATION]: 7 }, { [ENDED_PODS_ANNOTATION]: 'x'.repeat(ENDED_PODS_BYTES_MAX + 1) }])(
  'whatever a cluster says, %#, is bounded',
  (said) => {
    expect([endedPodsKept(said, true), endedPodsKept(said, false)]).toEqual([{}, {}]);
  },
);
