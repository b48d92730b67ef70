import { expect, test } from 'vitest';
import { aControlPlane, MERGE } from '../a-control-plane.ts';

const EVENTS = '/api/v1/namespaces/default/events';
const MINUTE = 60_000;
const event = (name: string): object => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name },
  involvedObject: { kind: 'Pod', namespace: 'default', name: 'p' },
  reason: 'Tested',
  type: 'Normal',
});

test('an Event goes an hour after its last change', async () => {
  const { call, clock } = await aControlPlane();
  await call('POST', EVENTS, event('quiet'));
  await call('POST', EVENTS, event('counted'));
  await clock.advance(40 * MINUTE);
  await call('PATCH', `${EVENTS}/counted`, { count: 2 }, MERGE);
  const names = async (): Promise<string[]> =>
    ((await call('GET', EVENTS)).body as unknown as { items: { metadata: { name: string } }[] }).items.map(({ metadata }) => metadata.name);
  await clock.advance(19 * MINUTE);
  expect(await names()).toEqual(['counted', 'quiet']);
  await clock.advance(2 * MINUTE);
  expect(await names()).toEqual(['counted']);
  await clock.advance(40 * MINUTE);
  expect(await names()).toEqual([]);
});

test('closing the control plane leaves no timer behind', async () => {
  const { call, clock, plane } = await aControlPlane();
  await call('POST', EVENTS, event('a'));
  await plane.close();
  expect(clock.pendingTimers()).toBe(0);
});
