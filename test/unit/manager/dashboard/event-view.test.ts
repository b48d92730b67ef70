import { expect, test } from 'vitest';
import { eventsView } from '../../../../manager/dashboard/event-view.ts';
import type { CoreEvent } from '../../../../shared/api/kubernetes.ts';

const event = (parts: Partial<CoreEvent>): CoreEvent => ({
  metadata: { namespace: 'team', name: 'e', uid: 'e', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
  involvedObject: { uid: 'job' },
  ...parts,
});

test('the latest come first, each with its time of whatever kind, and how often it was said', () => {
  const { events } = eventsView(
    [
      event({ reason: 'Created' }),
      event({ reason: 'Old', lastTimestamp: '2026-01-01T00:01:00Z', count: 3, source: { component: 'manager' } }),
      event({ reason: 'New', eventTime: '2026-01-01T00:02:00.123456Z', reportingComponent: 'worker', type: 'Warning' }),
      event({ reason: 'Often', series: { count: 9, lastObservedTime: '2026-01-01T00:03:00.000000Z' }, eventTime: '2026-01-01T00:00:00Z' }),
    ],
    'job',
  );
  expect(events.map(({ reason, from, count, isWarning }) => [reason, from, count, isWarning])).toEqual([
    ['Often', '', 9, false],
    ['New', 'worker', 1, true],
    ['Old', 'manager', 3, false],
    ['Created', '', 1, false],
  ]);
});

test('what speaks of another object is left out, and text that steers or floods is tamed', () => {
  const many = Array.from({ length: 300 }, () => event({ reason: 'R'.repeat(5_000), message: `\u001b[2J${'m'.repeat(50_000)}` }));
  const { events } = eventsView(
    [...many, event({ involvedObject: { uid: 'other' }, reason: 'Foreign' }), event({ involvedObject: {} })],
    'job',
  );
  expect(events).toHaveLength(100);
  expect([events[0]?.reason.length, events[0]?.message.length]).toEqual([128, 1024]);
  expect(JSON.stringify(events)).not.toMatch(/\\u001b|Foreign/);
});
