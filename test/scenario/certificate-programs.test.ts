/** Programs that die, and an upgrade, while the serving certificate of the managers is made: API servers refuse no manager that serves. */
import { describe, expect, test } from 'vitest';
import { SECRETS } from '../../shared/api/resources.ts';
import {
  bundlesNow,
  clock,
  cluster,
  DAY_MS,
  daysPass,
  NAMES,
  passes,
  refusals,
  SECRET,
  secret,
  serials,
  startReplica,
  writes,
  useCertificateWorld,
} from './certificate-world.ts';

useCertificateWorld();

describe('a keeper that dies', () => {
  test('after it has made the certificate and before API servers trust it: no manager serves with it until the next keeper has published it', async () => {
    const first = startReplica(1, NAMES, 'keeper');
    const manager = startReplica(2, NAMES, 'manager');
    while ((await secret()) === undefined) await passes(200);
    await first.kill();
    expect(await bundlesNow()).toEqual(['', '']);
    await passes(20_000);
    expect([manager.shown(), manager.reader.problem(), manager.reader.warnings().length]).toEqual([undefined, undefined, 2]);
    startReplica(3, NAMES, 'keeper');
    await passes(5_000);
    expect([manager.shown() === undefined, manager.reader.warnings()]).toEqual([false, []]);
    expect(refusals(await bundlesNow())).toEqual([]);
  });

  test('between two configurations: the next one finishes', async () => {
    const first = startReplica(1, NAMES, 'keeper');
    while (!writes.some((write) => write.startsWith('patch '))) await passes(200);
    await first.kill();
    expect((await bundlesNow()).filter((bundle) => bundle !== '')).toHaveLength(1);
    startReplica(2);
    await passes(10_000);
    expect(refusals(await bundlesNow())).toEqual([]);
    expect(new Set(await bundlesNow()).size).toBe(1);
  });

  test('for two months costs nothing but time: the managers show what there is, and say when it has ended', async () => {
    const keeper = startReplica(1, NAMES, 'keeper');
    const manager = startReplica(2, NAMES, 'manager');
    await passes(60_000);
    await keeper.kill();
    await daysPass(80);
    expect([manager.reader.problem(), refusals(await bundlesNow())]).toEqual([undefined, []]);
    await daysPass(20);
    expect(manager.reader.problem()).toContain('look into the log of switchyard-certificates');
    startReplica(3, NAMES, 'keeper');
    await passes(10_000);
    expect([manager.reader.problem(), refusals(await bundlesNow())]).toEqual([undefined, []]);
  });
});

describe('an upgrade from managers that made the certificate themselves', () => {
  test('goes on with their certificate: nothing is written, and nothing is refused, while their rights go and after', async () => {
    const [one, other] = [startReplica(1), startReplica(2)];
    await passes(60_000);
    const before = writes.length;
    one.isForbidden = true;
    other.isForbidden = true;
    startReplica(3, NAMES, 'keeper');
    for (let second = 0; second < 60; second++) {
      await passes(1_000);
      expect(refusals(await bundlesNow())).toEqual([]);
    }
    await one.kill();
    startReplica(4, NAMES, 'manager');
    await passes(30_000);
    await other.kill();
    startReplica(5, NAMES, 'manager');
    await passes(30_000);
    expect([refusals(await bundlesNow()), writes.length - before, new Set(serials()).size]).toEqual([[], 0, 2]);
  });

  test('in the middle of a renewal finishes that renewal', async () => {
    const old = startReplica(1);
    await passes(60_000);
    const [first] = serials();
    clock.stepTimeOfDay(61 * DAY_MS);
    await cluster.client.patch(SECRETS, SECRET, { type: 'merge', body: { metadata: { labels: { touched: 'yes' } } } });
    await passes(10_000);
    expect(Object.keys((await secret())?.data ?? {})).toContain('next.crt');
    old.isForbidden = true;
    startReplica(2, NAMES, 'keeper');
    startReplica(3, NAMES, 'manager');
    for (let minute = 0; minute < 13; minute++) {
      await passes(60_000);
      expect(refusals(await bundlesNow())).toEqual([]);
    }
    expect(serials()).not.toContain(first);
  });
});
