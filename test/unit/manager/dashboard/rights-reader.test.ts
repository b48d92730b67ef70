import { beforeEach, expect, test } from 'vitest';
import { createRightsReader, type RightsReader } from '../../../../manager/dashboard/rights-reader.ts';
import type { RawClient } from '../../../../shared/kube/client.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

let clock: FakeClock;
let reviews: number;
let reader: RightsReader;
beforeEach(() => {
  [clock, reviews] = [new FakeClock(), 0];
  const client: RawClient = {
    async raw({ path, body }) {
      if (!path.endsWith('/tokenreviews')) return JSON.stringify({ status: { allowed: true } });
      reviews++;
      const { token } = (body as { spec: { token: string } }).spec;
      const authenticated = token.startsWith('good');
      return JSON.stringify({ status: { authenticated, ...(authenticated && { user: { username: token } }) } });
    },
  };
  const none = (): readonly string[] => [];
  reader = createRightsReader({
    client,
    namespaces: none,
    identities: { of: () => undefined, gone: 0 },
    queues: none,
    clusters: none,
    clock,
    log: silentLogger,
  });
});
const asks = (token: string, address: string) => reader.rightsOf({ kind: 'Token', token }, address);

test('a flood of tokens from one address keeps neither those who are known nor newcomers of other addresses waiting', async () => {
  await asks('good-known', '10.0.0.1');
  const flood = Array.from({ length: 5_000 }, (_, number) => asks(`bad-${number}`, '10.6.6.6'));
  // Nobody moves the clock: they are answered at once, or never.
  expect(await asks('good-new', '10.0.0.2')).toMatchObject({ kind: 'Admitted', user: { username: 'good-new' } });
  const before = reviews;
  expect(await asks('good-known', '10.0.0.1')).toMatchObject({ kind: 'Admitted' });
  // He is known still: nobody was asked again.
  expect(reviews).toBe(before);
  expect(await reader.rightsOf({ kind: 'User', user: { username: 'of-the-proxy', groups: [] } }, '10.6.6.6')).toMatchObject({
    kind: 'Admitted',
  });
  expect(reviews).toBeLessThan(30);
  await clock.advance(10_000);
  const answers = await Promise.all(flood);
  expect(new Set(answers.map((answer) => answer.kind === 'Refused' && answer.status))).toEqual(new Set([401, 503]));
  // Whoever waits longest is told that it does not work now; the API server has been asked five times a second.
  expect(reviews).toBeLessThan(60);
});

test('an address that was flooded is served again soon after', async () => {
  const flood = Array.from({ length: 1_000 }, (_, number) => asks(`bad-${number}`, '10.6.6.6'));
  await clock.advance(10_000);
  await Promise.all(flood);
  const newcomer = asks('good-late', '10.6.6.6');
  await clock.advance(1_000);
  expect(await newcomer).toMatchObject({ kind: 'Admitted' });
});

test('thousands of addresses are not all remembered, and each is served', async () => {
  for (let number = 0; number < 3_000; number++) {
    const answer = asks(`good-${number}`, `10.1.${number >> 8}.${number & 255}`);
    expect(await answer).toMatchObject({ kind: 'Admitted' });
  }
});
