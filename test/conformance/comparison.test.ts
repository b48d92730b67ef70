/** The recorded cases are worth as much as the comparison with them: what it sees, and what it overlooks on purpose. */
import { describe, expect, test } from 'vitest';
import type { Answer, ApiCase, Comparison } from './support/api-case.ts';
import { expectedForm, normalForm } from './support/api-case-normal-form.ts';
import { differences } from './support/difference.ts';

const NOW = Date.parse('2026-01-02T00:00:00Z');
const UID_A = '11111111-2222-4333-8444-555555555555';
const UID_B = 'aaaaaaaa-2222-4333-8444-555555555555';

/** What the comparison of one exchange finds. */
function found(expected: Answer, answer: Answer, comparison: Comparison = {}): string[] {
  const exchange = { method: 'GET', path: '/', ...comparison, expect: expected };
  const apiCase: ApiCase = { name: 'case', about: '', exchanges: [exchange] };
  return differences(expectedForm(exchange), normalForm({ answers: [answer], words: { '{ns}': 'ns-q1', '{id}': 'q1' } }, apiCase, NOW)[0]);
}
const anObject = (metadata: object): Answer => ({ status: 200, body: { metadata } });

describe('what depends on the run is equal to its placeholder', () => {
  test('UIDs, versions, times, generated names and the words of the case', () => {
    const answer = {
      status: 200,
      body: {
        items: [
          { metadata: { name: 'a', namespace: 'ns-q1', uid: UID_A, resourceVersion: '7', creationTimestamp: '2026-01-02T00:00:01Z' } },
          { metadata: { name: 'a', uid: UID_B, resourceVersion: '9', labels: { owner: UID_A } } },
          { metadata: { name: 'a', uid: UID_A, resourceVersion: '12' } },
          { metadata: { name: 'b-xz9k7', generateName: 'b-' } },
        ],
      },
    };
    const expected = {
      status: 200,
      body: {
        items: [
          { metadata: { name: 'a', namespace: '{ns}', uid: '<uid a>', resourceVersion: '<rv 1>', creationTimestamp: '<time>' } },
          { metadata: { name: 'a', uid: '<uid a#2>', resourceVersion: '<rv 1>', labels: { owner: '<uid a>' } } },
          { metadata: { name: 'a', uid: '<uid a>', resourceVersion: '<rv 2>' } },
          { metadata: { name: 'b-<gen>', generateName: 'b-' } },
        ],
      },
    };
    expect(found(expected, answer)).toEqual([]);
  });

  test('what Go says about itself', () => {
    const message = 'spec: Invalid value: {"Name":"a","Args":["}"]}: field is immutable';
    expect(found({ status: 422, text: 'spec: Invalid value: <object>: field is immutable' }, { status: 422, text: message })).toEqual([]);
  });
});

describe('what a server does otherwise is seen', () => {
  test('another status, a missing field, a field too many, another value', () => {
    const differing = found({ status: 201, body: { a: 1, b: 2 } }, { status: 200, body: { a: 2, c: 3 } });
    expect(differing).toEqual([
      'status: want 201, got 200',
      'body.a: want 1, got 2',
      'body.b: want 2, got nothing',
      'body.c: want nothing, got 3',
    ]);
  });

  test('a list in another order', () => {
    expect(found({ body: { l: ['a', 'b'] } }, { body: { l: ['b', 'a'] } })).toHaveLength(2);
    expect(found({ body: { l: ['a', 'b'] } }, { body: { l: ['b', 'a'] } }, { unordered: ['l'] })).toEqual([]);
  });

  test('a write where nothing should have changed', () => {
    // The case has seen version 1 in an event, and the answer shows the same object.
    const event = (resourceVersion: string, uid: string): object => ({
      type: 'ADDED',
      object: { metadata: { name: 'a', uid, resourceVersion } },
    });
    const expected = { ...anObject({ name: 'a', uid: '<uid a>', resourceVersion: '<rv 1>' }), events: [event('<rv 1>', '<uid a>')] };
    const answer = (resourceVersion: string): Answer => ({
      ...anObject({ name: 'a', uid: UID_A, resourceVersion }),
      events: [event('1', UID_A)],
    });
    expect(found(expected, answer('1'))).toEqual([]);
    expect(found(expected, answer('2'))).toEqual(['body.metadata.resourceVersion: want "<rv 1>", got "<rv 2>"']);
  });

  test('a time that is not of now', () => {
    expect(found(anObject({ creationTimestamp: '<time>' }), anObject({ creationTimestamp: '2020-01-01T00:00:00Z' }))).toHaveLength(1);
  });

  test('a refusal where only a path of the answer was to be compared', () => {
    const refusal = { status: 404, body: { message: 'not found' } };
    expect(found({ status: 200, shown: { 'spec.a': 1 } }, refusal, { only: ['spec.a'] })).not.toEqual([]);
    expect(found({ status: 200, shown: { 'spec.a': 1 } }, { status: 200, body: { spec: { a: 1, b: 2 } } }, { only: ['spec.a'] })).toEqual(
      [],
    );
  });
});
