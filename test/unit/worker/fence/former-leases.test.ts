/** Goal: a change from the Leases of earlier releases to those of this one stops nothing, whoever is upgraded, or rolled back, first. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createWorld, refusal, type World } from '../worker-world.ts';
import { BERLIN, CONTROLLER, FENCE, fenceScene } from './fence-scene.ts';

let world: World;
const { announced, token, renew, inContact, aCopy, running, told } = fenceScene(() => world);
afterEach(() => world.stop());

/** Where a worker of this release keeps its Lease, and where it also does while managers of an earlier one are at work. */
const OURS = 'ns';
const FORMER = 'kube-system';
const NEW = { ...FENCE, leaseNamespace: OURS, formerLeaseNamespace: FORMER };

/** A manager of this release keeps both of its Leases. */
async function inContactInBoth(seconds: number): Promise<void> {
  for (let passed = 0; passed < seconds; passed += 5) {
    for (const namespace of [FORMER, OURS]) await renew(BERLIN, undefined, namespace);
    await world.clock.advance(5_000);
  }
}

describe('a worker of this release, after one of an earlier release,', () => {
  beforeEach(async () => {
    world = await createWorld({ controllerName: CONTROLLER }, FENCE);
    await world.clock.advance(1_000);
    await inContact(20);
    await aCopy('job');
    await inContact(10);
    await world.restart(undefined, NEW);
    await inContact(5, BERLIN, FORMER);
  });

  test('asks for the same token in both namespaces, and hears a manager of an earlier release in the former one', async () => {
    expect(await token(OURS)).toBe(await token(FORMER));
    await inContact(300, BERLIN, FORMER);
    await aCopy('late');
    await world.pass();
    expect([await running('job'), await running('late')]).toEqual([1, 1]);
  });

  test('hears the manager when that is upgraded, when only the new Lease is left, and when it is rolled back', async () => {
    await inContactInBoth(120);
    expect(await running('job')).toBe(1);
    await inContact(120, BERLIN, OURS);
    expect(await running('job')).toBe(1);
    await inContact(120, BERLIN, FORMER);
    expect([await running('job'), await told('job')]).toEqual([1, []]);
  });

  test('goes on in the hands of a worker of the earlier release, and back', async () => {
    await inContactInBoth(20);
    await world.restart(undefined, FENCE);
    await inContact(120, BERLIN, FORMER);
    expect(await running('job')).toBe(1);
    await world.restart(undefined, NEW);
    await inContactInBoth(120);
    expect([await running('job'), await told('job')]).toEqual([1, []]);
  });

  test('stops copies when neither Lease is renewed for the fence, and goes on once its new token is answered in one', async () => {
    await inContactInBoth(20);
    await world.clock.advance(54_000);
    expect(await running('job')).toBe(1);
    await world.clock.advance(6_000);
    expect([await running('job'), await told('job')]).toEqual([0, ['Fenced=True ManagerOutOfReach']]);
    await renew(BERLIN, 'a token of before', OURS);
    await world.pass();
    expect(await running('job')).toBe(0);
    await inContact(5, BERLIN, OURS);
    expect(await running('job')).toBe(1);
  });

  test('is held to the shorter fence of the one before, wherever its manager would answer', async () => {
    await world.clock.advance(10_000);
    await world.restart(undefined, { ...NEW, fenceAfterMs: 600_000 });
    await world.clock.advance(40_000);
    expect(await running('job')).toBe(1);
    await world.clock.advance(20_000);
    expect(await running('job')).toBe(0);
  });

  test('and one of an earlier release after it is held to its shorter fence as well', async () => {
    await world.restart(undefined, { ...NEW, fenceAfterMs: 30_000 });
    await inContactInBoth(10);
    await world.restart(undefined, { ...FENCE, fenceAfterMs: 600_000 });
    await world.clock.advance(30_000);
    expect(await running('job')).toBe(0);
  });

  test('whose Lease in one namespace is released creates no pod until the other one is renewed', async () => {
    await inContactInBoth(10);
    for (const namespace of [FORMER, OURS]) await renew(BERLIN, 'no token', namespace);
    await aCopy('late');
    await world.pass();
    expect([await running('job'), await running('late')]).toEqual([1, 0]);
    await renew(BERLIN, undefined, FORMER);
    await world.pass();
    expect(await running('late')).toBe(1);
  });
});

test('a worker that may not use the former namespace keeps its fence in the other one, and says whose copies are stopped', async () => {
  world = await createWorld({ controllerName: CONTROLLER }, NEW);
  world.fault = ({ path }) =>
    path.startsWith('/apis/coordination.k8s.io/v1/namespaces/kube-system/') ? refusal(403, 'Forbidden', 'leases is forbidden') : undefined;
  await world.restart(undefined, NEW);
  await aCopy('job');
  await inContact(120, BERLIN, OURS);
  expect([await running('job'), (await announced(OURS))?.fenceAfterSeconds]).toEqual([1, 60]);
  expect(world.warnings.map(({ message }) => message)).toContainEqual(
    expect.stringMatching(/namespace kube-system: copies of a manager of an earlier release, which looks there alone, are stopped/),
  );
  await world.clock.advance(60_000);
  expect(await running('job')).toBe(0);
});
