import { expect, test } from 'vitest';
import { claimNow, createLeaseHold } from '../../../../shared/kube/lease-hold.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

const LEASE_MS = 15_000;

/** A write that waits, because the Lease was not renewed in time; `outcome` is what became of it. */
async function aWaitingWrite() {
  const clock = new FakeClock();
  const hold = createLeaseHold(clock);
  hold.accepted(claimNow(clock, LEASE_MS));
  await clock.advance(LEASE_MS * 0.7);
  const write = { outcome: 'waits' };
  hold.writable().then(
    () => (write.outcome = 'sent'),
    ({ message }: Error) => (write.outcome = message),
  );
  await clock.settle();
  expect(write.outcome).toBe('waits');
  return { clock, hold, write };
}

test('a write that waits is sent once the Lease has been renewed', async () => {
  const { clock, hold, write } = await aWaitingWrite();
  hold.accepted(claimNow(clock, LEASE_MS));
  await clock.settle();
  expect(write.outcome).toBe('sent');
});

test('a write that waits is refused as soon as the Lease is lost', async () => {
  const { clock, hold, write } = await aWaitingWrite();
  hold.lost(new Error('leadership lost'));
  await clock.settle();
  expect(write.outcome).toBe('leadership lost');
});

test('a write that waits is sent once there is no Lease to hold any more', async () => {
  const { clock, hold, write } = await aWaitingWrite();
  hold.released();
  await clock.settle();
  expect(write.outcome).toBe('sent');
});
