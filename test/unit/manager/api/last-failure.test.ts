import { describe, expect, test } from 'vitest';
import {
  lastFailureOf,
  readLastFailure,
  failedPodMessage,
  failureMessage,
  sanitizedEndedPods,
} from '../../../../manager/api/last-failure.ts';
import { ENDED_PODS_ANNOTATION, LAST_FAILURE_ANNOTATION } from '../../../../shared/api/names.ts';

const saying = (pods: unknown) => ({ metadata: { annotations: { [ENDED_PODS_ANNOTATION]: JSON.stringify(pods) } } });
const home = (value: unknown) => ({ metadata: { annotations: { [LAST_FAILURE_ANNOTATION]: JSON.stringify(value) } } });

test('what a cluster says of pods steers no terminal', () => {
  expect(sanitizedEndedPods(saying([{ pod: 'a\u001b[2J', phase: 'Failed', exitCode: 3, lastLine: 'x\ny' }]))).toEqual([
    { pod: 'a [2J', phase: 'Failed', exitCode: 3, lastLine: 'x y' },
  ]);
  expect(sanitizedEndedPods({ metadata: {} })).toEqual([]);
});

describe('the last failure', () => {
  const pods = [
    { pod: 'a', phase: 'Failed', exitCode: 1 },
    { pod: 'b', phase: 'Failed', index: 4, exitCode: 137, reason: 'OOMKilled', node: 'n', lastLine: 'too much', tail: true },
    { pod: 'c', phase: 'Succeeded', exitCode: 0 },
  ];

  test('is that of the pod that failed last, and comes back as it was written', () => {
    const failure = lastFailureOf(saying(pods), 'east');
    expect(failure).toEqual({ pod: 'b', cluster: 'east', index: 4, exitCode: 137, reason: 'OOMKilled', lastLine: 'too much' });
    expect(readLastFailure(home(failure))).toEqual(failure);
  });

  test('is none where no pod failed, or nothing can be read', () => {
    expect(lastFailureOf(saying([pods[2]]), 'east')).toBeUndefined();
    expect(lastFailureOf({ metadata: {} }, 'east')).toBeUndefined();
    expect(readLastFailure({ metadata: {} })).toBeUndefined();
    expect(readLastFailure(home('x'))).toBeUndefined();
    expect(readLastFailure(home({ cluster: 'east' }))).toBeUndefined();
    expect(readLastFailure(home({ pod: 'b', cluster: 1 }))).toBeUndefined();
  });

  test.each([
    [
      { pod: 'b', cluster: 'east', exitCode: 3, reason: 'Error', lastLine: 'no such file' },
      'pod b on cluster "east" ended with exit code 3: no such file',
    ],
    [
      { pod: 'b', cluster: 'east', index: 4, exitCode: 137, reason: 'OOMKilled' },
      'pod b of index 4 on cluster "east" ended with exit code 137 (OOMKilled)',
    ],
    [{ pod: 'b', cluster: 'east', reason: 'Evicted', message: 'disk' }, 'pod b on cluster "east" Evicted: disk'],
    [{ pod: 'b', cluster: 'east' }, 'pod b on cluster "east" was stopped'],
  ])('%j is told in a sentence', (failure, sentence) => {
    expect(failureMessage(failure)).toBe(sentence);
    expect(failedPodMessage(failure)).toBe(sentence.replace(` on cluster "${failure.cluster}"`, ''));
  });
});
