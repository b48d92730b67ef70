import { describe, expect, test } from 'vitest';
import { StatusError } from '../../../../../shared/controlplane/apimachinery/status-error.ts';
import { Query } from '../../../../../shared/controlplane/request/request.ts';
import { readPodLogOptions, type PodLogOptions } from '../../../../../shared/controlplane/subresources/pod-log-options.ts';

const read = (query: string): PodLogOptions => readPodLogOptions(new Query(query), 'p');
const refusalOf = (query: string): string => {
  try {
    read(query);
  } catch (error) {
    if (error instanceof StatusError) return `${error.code} ${error.message}`;
    throw error;
  }
  return 'accepted';
};

describe('options of a log', () => {
  test('are read from the query', () => {
    expect(read('container=c&follow=true&timestamps=1&tailLines=0&sinceTime=2026-01-01T00:00:00Z&limitBytes=5')).toEqual({
      container: 'c',
      follow: true,
      previous: false,
      timestamps: true,
      tailLines: 0,
      sinceSeconds: undefined,
      sinceTime: '2026-01-01T00:00:00Z',
      limitBytes: 5,
    });
  });
  test('are false in any spelling, and true whatever else they are', () => {
    expect([read('follow=False').follow, read('follow=0').follow, read('follow').follow, read('follow=no').follow]).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });
  test.each([
    ['tailLines=-1', '422 PodLogOptions "p" is invalid: tailLines: Invalid value: -1: must be greater than or equal to 0'],
    ['limitBytes=0', '422 PodLogOptions "p" is invalid: limitBytes: Invalid value: 0: must be greater than 0'],
    ['sinceSeconds=0', '422 PodLogOptions "p" is invalid: sinceSeconds: Invalid value: 0: must be greater than 0'],
    [
      'sinceSeconds=5&sinceTime=2026-01-01T00:00:00Z',
      '422 PodLogOptions "p" is invalid: []: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified',
    ],
    ['stream=Stdout', '422 PodLogOptions "p" is invalid: stream: Forbidden: may not be specified'],
  ])('with %s are refused', (query, refusal) => expect(refusalOf(query)).toBe(refusal));
  test.each([
    ['tailLines=x', '400 strconv.ParseInt: parsing "x": invalid syntax'],
    ['limitBytes=9223372036854775808', '400 strconv.ParseInt: parsing "9223372036854775808": value out of range'],
    ['tailLines=', '400 strconv.ParseInt: parsing "": invalid syntax'],
  ])('with %s cannot be read', (query, refusal) => expect(refusalOf(query)).toBe(refusal));
});
