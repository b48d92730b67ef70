import { expect, test } from 'vitest';
import { createControlPlane } from '../../../../shared/controlplane/control-plane.ts';
import { createFaultyTransport, type Fault } from '../../../../shared/controlplane/faults.ts';
import type { Transport } from '../../../../shared/kube/transport.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { seededRandom } from '../../../../shared/runtime/random.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { CONFIG_MAPS, configMap } from './a-control-plane.ts';

/** A connection on which the next request meets `fault`, and one on which nothing goes wrong. */
async function connections(fault: Fault): Promise<{ faulty: Transport; sound: Transport; clock: FakeClock }> {
  const clock = new FakeClock();
  const plane = await createControlPlane({ clock, random: seededRandom(1), log: silentLogger });
  const faults = [fault];
  return { faulty: createFaultyTransport(plane.transport(), () => faults.shift(), clock), sound: plane.transport(), clock };
}
const post = (transport: Transport): Promise<{ status: number }> =>
  transport.send({
    method: 'POST',
    path: CONFIG_MAPS,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(configMap('a')),
  });
const exists = async (transport: Transport): Promise<boolean> =>
  (await transport.send({ method: 'GET', path: `${CONFIG_MAPS}/a`, headers: {} })).status === 200;

test('a refused request has no effect, and says when to come back', async () => {
  const { faulty, sound } = await connections({ kind: 'refuse', code: 429, retryAfterSeconds: 7 });
  expect(await post(faulty)).toMatchObject({ status: 429, headers: { 'retry-after': '7' } });
  expect(await exists(sound)).toBe(false);
  expect(await post(faulty)).toMatchObject({ status: 201 });
});

test('a lost request has no effect, a lost answer has all of it', async () => {
  const request = await connections({ kind: 'lose-request' });
  await expect(post(request.faulty)).rejects.toThrow('connection lost');
  expect(await exists(request.sound)).toBe(false);
  const answer = await connections({ kind: 'lose-answer' });
  await expect(post(answer.faulty)).rejects.toThrow('connection lost');
  expect(await exists(answer.sound)).toBe(true);
});

test('a delayed request is carried out when its time has come', async () => {
  const { faulty, sound, clock } = await connections({ kind: 'delay', ms: 500 });
  const posting = post(faulty);
  await clock.advance(499);
  expect(await exists(sound)).toBe(false);
  await clock.advance(1);
  expect(await posting).toMatchObject({ status: 201 });
});

test('a watch is cut after its time, with everything before it delivered', async () => {
  const { faulty, sound, clock } = await connections({ kind: 'cut', afterMs: 1000 });
  const { chunks } = await faulty.stream({ method: 'GET', path: `${CONFIG_MAPS}?watch=1`, headers: {} });
  let text = '';
  const reading = (async () => {
    for await (const chunk of chunks) text += chunk;
  })();
  const broken = expect(reading).rejects.toThrow('connection lost');
  await post(sound);
  await clock.advance(1000);
  await broken;
  expect(text).toContain('"ADDED"');
});

test('a black hole gives nothing back until its caller gives up', async () => {
  const { faulty } = await connections({ kind: 'black-hole' });
  const giving = new AbortController();
  const waiting = faulty.send({ method: 'GET', path: CONFIG_MAPS, headers: {}, signal: giving.signal });
  giving.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
});
