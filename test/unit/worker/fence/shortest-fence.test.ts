import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createWorld, refusal, type World } from '../worker-world.ts';
import { BERLIN, CONTROLLER, FENCE, fenceScene } from './fence-scene.ts';

let world: World;
const { announced, inContact, aCopy, running, told } = fenceScene(() => world);
afterEach(() => world.stop());

describe('a worker that comes back with other flags while its manager is out of reach', () => {
  const NONE = { ...FENCE, fenceAfterMs: 0 };
  const LONGER = { ...FENCE, fenceAfterMs: 600_000 };
  const ELSEWHERE = { ...FENCE, leaseNamespace: 'ns' };
  beforeEach(async () => {
    world = await createWorld({ controllerName: CONTROLLER }, FENCE);
    await world.clock.advance(1_000);
    await inContact(20);
    await aCopy('job');
    await inContact(10);
  });

  test.each([
    ['a longer fence', LONGER],
    ['none', NONE],
    ['another --lease-namespace', ELSEWHERE],
    ['another --lease-namespace and none', { ...ELSEWHERE, fenceAfterMs: 0 }],
  ])(
    'with %s stops its copies when the manager counts on it, and goes by its own fence once the manager has answered',
    async (_, fence) => {
      await world.clock.advance(10_000);
      await world.restart(undefined, fence);
      await world.clock.advance(20_000);
      expect(await running('job')).toBe(1);
      // Again: it is in the Lease of this worker now.
      await world.restart(undefined, fence);
      await aCopy('late');
      await world.clock.advance(30_000);
      expect([await running('job'), await running('late')]).toEqual([0, 0]);
      expect(await told('job')).toEqual(['Fenced=True ManagerOutOfReach']);
      await world.restart(undefined, fence);
      await world.clock.advance(60_000);
      expect(await running('job')).toBe(0);

      await inContact(5, BERLIN, fence.leaseNamespace);
      expect([await running('job'), await running('late')]).toEqual([1, 1]);
      await world.clock.advance(50_000);
      expect(await running('job')).toBe(1);
      await world.clock.advance(90_000);
      expect(await running('job')).toBe(fence === ELSEWHERE ? 0 : 1);
      await world.clock.advance(600_000);
      expect(await running('job')).toBe(fence.fenceAfterMs === 0 ? 1 : 0);
    },
  );

  test('with none holds them until the manager has answered, where that is in reach', async () => {
    await world.restart(undefined, NONE);
    await aCopy('late');
    await world.clock.advance(2_000);
    expect([await running('job'), await running('late')]).toEqual([1, 0]);
    await inContact(5);
    expect([await running('job'), await running('late')]).toEqual([1, 1]);
    // Nothing binds any more, also not for whoever is started next.
    expect((await announced())?.renewalsSeen.size).toBe(0);
    await world.clock.advance(3_600_000);
    await world.restart(undefined, NONE);
    await world.clock.advance(1_000);
    await aCopy('later');
    await world.pass();
    expect([await running('job'), await running('later')]).toEqual([1, 1]);
    // With a fence again the manager has its time.
    await world.restart(undefined, FENCE);
    await world.clock.advance(50_000);
    expect(await running('job')).toBe(1);
    await world.clock.advance(10_000);
    expect(await running('job')).toBe(0);
  });

  test('with a shorter fence goes by that at once', async () => {
    await world.restart(undefined, { ...FENCE, fenceAfterMs: 30_000 });
    await world.clock.advance(30_000);
    expect(await running('job')).toBe(0);
  });

  test('back in the first --lease-namespace goes by what was announced last', async () => {
    await world.restart(undefined, { ...ELSEWHERE, fenceAfterMs: 30_000 });
    await inContact(20, BERLIN, 'ns');
    await world.restart(undefined, LONGER);
    await world.clock.advance(40_000);
    expect(await running('job')).toBe(0);
  });

  test('without the right to list Leases of other namespaces works as before, and says what that may cost where it has none in its own', async () => {
    world.fault = ({ method, path }) =>
      method === 'GET' && path.startsWith('/apis/coordination.k8s.io/v1/leases')
        ? refusal(403, 'Forbidden', 'leases is forbidden')
        : undefined;
    const said = () => world.warnings.filter(({ message }) => message.includes('where --lease-namespace was changed'));
    await world.restart();
    await inContact(5);
    expect([await running('job'), said().length]).toEqual([1, 0]);
    await world.restart(undefined, ELSEWHERE);
    expect(said()).toHaveLength(1);
    await inContact(5, BERLIN, 'ns');
    expect(await running('job')).toBe(1);
  });
});
