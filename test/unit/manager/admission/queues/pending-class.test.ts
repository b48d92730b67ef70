import { expect, test } from 'vitest';
import type { Inadmissibility } from '../../../../../manager/admission/scheduling/decision.ts';
import { classOf, PendingClass } from '../../../../../manager/admission/queues/pending-class.ts';
import { parseRequests } from '../../../../../manager/api/amount.ts';
import { aWorkload, queued } from '../setup.ts';

const short: Inadmissibility = { reason: 'InsufficientQuota', message: 'short', waitsFor: 'quota' };
const never: Inadmissibility = { reason: 'ExceedsQuota', message: 'too much', waitsFor: 'setup' };
const aClass = (cpu: readonly string[]) => {
  const waiting = new PendingClass('all', ['cpu']);
  const entries = cpu.map((amount, index) => queued(aWorkload(`${index}`, { cpu: amount }), index));
  for (const each of entries) waiting.add(each);
  const next = () => waiting.firstWithin(() => false)?.workload.name;
  const fail = (index: number, inadmissibility: Inadmissibility) => {
    const entry = entries[index];
    if (entry !== undefined) waiting.fail(entry, inadmissibility);
  };
  return { waiting, entries, next, fail };
};

test('with one that does not fit those after it are passed over that ask for as much', () => {
  const { waiting, next, fail, entries } = aClass(['4', '6', '4', '3']);
  fail(0, short);
  expect(next()).toBe('3');
  expect(entries.map((entry) => waiting.lastResult(entry)?.reason)).toEqual([
    'InsufficientQuota',
    undefined,
    'InsufficientQuota',
    undefined,
  ]);
  waiting.forgive(({ waitsFor }) => waitsFor === 'quota');
  expect(next()).toBe('0');
});

test('one before it is tried, though it asks for more', () => {
  const { waiting, next, fail } = aClass(['4']);
  fail(0, short);
  waiting.add(queued(aWorkload('urgent', { cpu: '9' }), 7, 1));
  expect(next()).toBe('urgent');
});

test('one that may be admitted with fewer pods asks for no more than these', () => {
  const { waiting, fail } = aClass(['4']);
  waiting.add(queued(aWorkload('elastic', {}, { requests: parseRequests({ cpu: '9', pods: '9' }), minPods: 3 }), 7));
  fail(0, short);
  expect(waiting.firstWithin((_, [cpu = 0]) => cpu > 3_000)?.workload.name).toBe('elastic');
});

test('what can never be is set aside, and no longer the first', () => {
  const { waiting, next, fail } = aClass(['9', '8', '9']);
  fail(0, never);
  expect([waiting.first()?.workload.name, next()]).toEqual(['1', '1']);
  waiting.forgive(({ waitsFor }) => waitsFor !== 'setup');
  expect(next()).toBe('1');
});

test('of one class are those that differ in amounts alone', () => {
  const id = (parts: Parameters<typeof aWorkload>[2], requests: Record<string, string> = { cpu: '1' }) =>
    classOf(aWorkload('a', requests, parts), []).id;
  expect(id({})).toBe(id({}, { cpu: '7' }));
  expect(id({})).not.toBe(id({}, { cpu: '7', memory: '1Gi' }));
  expect(id({})).not.toBe(id({ wish: { kind: 'Names', names: ['eu'] } }));
  expect(classOf(aWorkload('a', { memory: '1', cpu: '2' }), []).resources).toEqual(['cpu', 'memory', 'pods']);
});
