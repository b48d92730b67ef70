import { describe, expect, test } from 'vitest';
import { EventCorrelator, type EventDraft } from '../../../../shared/kube/event-correlator.ts';

const event = (message: string, more: { readonly name?: string; readonly object?: string; readonly reason?: string } = {}): EventDraft => ({
  metadata: { name: more.name ?? 'event', namespace: 'default' },
  involvedObject: { kind: 'Job', namespace: 'default', name: more.object ?? 'job', uid: more.object ?? 'job' },
  reason: more.reason ?? 'Waiting',
  message,
  type: 'Normal',
  count: 1,
  firstTimestamp: '2026-01-01T00:00:00Z',
  source: { component: 'switchyard-manager' },
});

describe('events of one object', () => {
  test('that are equal become one, which is counted and keeps its name and its first time', () => {
    const correlator = new EventCorrelator();
    expect(correlator.correlate(event('no quota', { name: 'first' }), 0)).toMatchObject({ kind: 'create' });
    const again = correlator.correlate({ ...event('no quota', { name: 'second' }), firstTimestamp: '2026-01-01T01:00:00Z' }, 1_000);
    expect(again).toMatchObject({
      kind: 'repeat',
      event: { metadata: { name: 'first' }, count: 2, firstTimestamp: '2026-01-01T00:00:00Z' },
    });
  });

  test('that differ in their message only are folded into one from the tenth on', () => {
    const correlator = new EventCorrelator();
    const kinds = Array.from({ length: 12 }, (_, i) => correlator.correlate(event(`message ${i}`), i));
    expect(kinds.slice(0, 9).map(({ kind }) => kind)).toEqual(Array.from({ length: 9 }, () => 'create'));
    expect(kinds[9]).toMatchObject({ kind: 'create', event: { message: '(combined from similar events): message 9' } });
    expect(kinds[11]).toMatchObject({ kind: 'repeat', event: { message: '(combined from similar events): message 11', count: 3 } });
  });

  test('are no longer similar to those of ten minutes ago', () => {
    const correlator = new EventCorrelator();
    for (let i = 0; i < 9; i++) correlator.correlate(event(`message ${i}`), 0);
    expect(correlator.correlate(event('message 9'), 600_001)).toMatchObject({ kind: 'create', event: { message: 'message 9' } });
  });

  test('are dropped after twenty-five at once, and one comes through every five minutes', () => {
    const correlator = new EventCorrelator();
    const at = (nowMs: number): string => correlator.correlate(event('again'), nowMs).kind;
    const first = Array.from({ length: 25 }, () => at(0));
    expect(first.every((kind) => kind !== 'drop')).toBe(true);
    expect(at(0)).toBe('drop');
    expect(at(299_999)).toBe('drop');
    // The dropped ones are counted all the same.
    expect(correlator.correlate(event('again'), 300_000)).toMatchObject({ kind: 'repeat', event: { count: 28 } });
    expect(at(300_001)).toBe('drop');
  });
});

test('a flood of one object leaves the events of another alone', () => {
  const correlator = new EventCorrelator();
  for (let i = 0; i < 30; i++) correlator.correlate(event('again', { object: 'noisy' }), 0);
  expect(correlator.correlate(event('once', { object: 'quiet' }), 0)).toMatchObject({ kind: 'create' });
});
