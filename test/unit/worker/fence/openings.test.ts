import { expect, test } from 'vitest';
import type { Job } from '../../../../shared/api/kubernetes.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { createOpenings } from '../../../../worker/fence/openings.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const aCopy = (resourceVersion: string, annotations: Record<string, string> = {}): Job =>
  ({ metadata: { namespace: 'ns', name: 'job', resourceVersion, labels: { 'switchyard.dev/origin': 'berlin' }, annotations } }) as never;

/** A server that answers with these versions of its Jobs, or refuses. */
function openingsOf(answers: readonly (string | Error)[], jobsNamespaces: readonly string[] = []) {
  const clock = new FakeClock();
  const asked: (string | undefined)[] = [];
  let known = 0;
  const list = async (_: unknown, { namespace }: { namespace?: string }) => {
    const answer = answers[Math.min(asked.push(namespace), answers.length) - 1];
    if (answer instanceof Error) throw answer;
    return { items: [], resourceVersion: answer };
  };
  const openings = createOpenings({
    client: { list } as never,
    clock,
    log: silentLogger,
    jobsNamespaces,
    onKnown: () => known++,
  });
  return { openings, clock, asked, known: () => known };
}

test('what is older than the opening of a fence is unsure until the server was asked for it', async () => {
  const { openings, clock, known } = openingsOf(['20']);
  const [before, after] = [aCopy('10'), aCopy('21')];
  openings.note('berlin', true, undefined);
  expect(openings.isKnown('berlin')).toBe(false);
  await clock.advance(0);
  expect(known()).toBe(1);
  expect([openings.isUnsure(before), openings.isUnsure(after)]).toEqual([true, false]);
  openings.confirmed(before);
  expect(openings.isUnsure(before)).toBe(false);
});

test('a copy that asks for no fence is never unsure', async () => {
  const { openings, clock } = openingsOf(['20']);
  openings.note('berlin', true, undefined);
  await clock.advance(0);
  expect(openings.isUnsure(aCopy('10', { 'switchyard.dev/fencing': 'off' }))).toBe(false);
});

test('each opening is asked for anew, and what was confirmed for the one before is unsure again', async () => {
  const { openings, clock, asked } = openingsOf(['20', '30']);
  const copy = aCopy('10');
  openings.note('berlin', true, undefined);
  openings.note('berlin', true, undefined);
  await clock.advance(0);
  openings.confirmed(copy);
  openings.note('berlin', false, undefined);
  expect(openings.isKnown('berlin')).toBe(false);
  openings.note('berlin', true, undefined);
  await clock.advance(0);
  expect(openings.isUnsure(copy)).toBe(true);
  expect(asked).toHaveLength(2);
});

test('a namespace that refuses is followed by the next, and a worker that stops asks no more', async () => {
  const { openings, clock, asked } = openingsOf([new Error('forbidden'), new Error('forbidden'), '20'], ['blue', 'green']);
  const stopping = new AbortController();
  openings.note('berlin', true, stopping.signal);
  await clock.advance(2_000);
  expect(asked).toEqual(['blue', 'green']);
  stopping.abort();
  await clock.advance(10_000);
  expect([asked.length, openings.isKnown('berlin')]).toEqual([2, false]);
});
