import { describe, expect, test } from 'vitest';
import { createFairRateLimiter, type FairRateLimiter } from '../../../../shared/kube/fair-rate-limiter.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

function aWorld(
  qps = 10,
  burst = 1,
): { clock: FakeClock; limiter: FairRateLimiter; order: string[]; call(flow: string, times?: number): void } {
  const clock = new FakeClock();
  const startMs = clock.now();
  const limiter = createFairRateLimiter({ qps, burst, clock });
  const order: string[] = [];
  const call = (flow: string, times = 1): void => {
    for (let each = 0; each < times; each++)
      void limiter
        .of(flow)
        .acquire()
        .then(() => order.push(`${flow}@${clock.now() - startMs}`));
  };
  return { clock, limiter, order, call };
}

describe('a fair rate limiter', () => {
  test('lets as many go at once as the bucket holds, and then as many as come in, whoever asks', async () => {
    const { clock, order, call } = aWorld(10, 3);
    call('a', 5);
    await clock.advance(200);
    expect(order).toEqual(['a@0', 'a@0', 'a@0', 'a@100', 'a@200']);
    await clock.advance(60_000);
    call('a', 4);
    await clock.advance(0);
    expect(order.slice(5)).toEqual(['a@60200', 'a@60200', 'a@60200']);
  });

  test('gives each flow one call in each round, so that one that begins late waits for one call of the others', async () => {
    const { clock, order, call } = aWorld();
    call('a', 1000);
    call('b', 1000);
    await clock.advance(1_000);
    call('c', 2);
    await clock.advance(600);
    expect(
      order
        .map((each) => each.split('@')[0])
        .slice(-6)
        .filter((flow) => flow === 'c'),
    ).toHaveLength(2);
  });

  test('serves two flows alike, of which one asks again as soon as it is served', async () => {
    const { clock, limiter, order, call } = aWorld();
    call('many', 1000);
    let calls = 0;
    const oneByOne = async (): Promise<void> => {
      for (;;) {
        await limiter.of('one by one').acquire();
        calls++;
      }
    };
    void oneByOne();
    await clock.advance(10_000);
    expect(calls).toBeGreaterThanOrEqual(49);
    expect(calls).toBeLessThanOrEqual(51);
    expect(order.length + calls).toBe(101);
  });

  test('keeps the rate over all flows', async () => {
    const { clock, order, call } = aWorld(50, 100);
    for (let flow = 0; flow < 200; flow++) call(`flow-${flow}`, 10);
    await clock.advance(10_000);
    expect(order).toHaveLength(600);
  });

  test('tells how long a call has waited, and lets one that is given up go without a token', async () => {
    const { clock, limiter, order, call } = aWorld();
    call('a');
    const given = new AbortController();
    const refused = limiter
      .of('b')
      .acquire(given.signal)
      .catch((error: unknown) => error);
    const waited = limiter.of('c').acquire();
    given.abort(new Error('no longer'));
    expect(await refused).toEqual(new Error('no longer'));
    await clock.advance(100);
    expect(await waited).toBe(100);
    expect(order).toEqual(['a@0']);
    await expect(limiter.of('b').acquire(given.signal)).rejects.toThrow('no longer');
  });

  test('knows no limit where it is 0', async () => {
    const limiter = createFairRateLimiter({ qps: 0, burst: 1, clock: new FakeClock() });
    expect(await Promise.all(Array.from({ length: 100 }, () => limiter.of('a').acquire()))).toEqual(Array(100).fill(0));
  });
});
