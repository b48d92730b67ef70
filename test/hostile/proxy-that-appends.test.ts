/**
 * The adversary signs in through a proxy that does not replace the headers of what it passes on: it adds its own value to theirs, in one
 * line (RFC 9110, 5.3) or in a second one.
 */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createAddressRanges } from '../../shared/kube/address-ranges.ts';
import { serveTestDashboard, type ServedDashboard } from '../scenario/served-dashboard.ts';

let served: ServedDashboard;
beforeEach(async () => {
  served = await serveTestDashboard({
    proxy: { userHeader: 'x-forwarded-user', groupsHeader: 'x-forwarded-groups', from: createAddressRanges(['127.0.0.0/8']) },
  });
});
afterEach(() => served.close());

const ask = async (headers: Record<string, string>): Promise<string> => {
  const response = await fetch(`${served.server.url}/api/v1/viewer`, { headers });
  return `${response.status} ${await response.text()}`;
};

test.each(['admin, ann', 'admin,ann', 'ann, admin', ', ann'])('two names in the header of the user are nobody (%j)', async (names) => {
  expect(await ask({ 'x-forwarded-user': names })).toMatch(/^401 .*x-forwarded-user names more than one user: have the proxy replace it/);
  expect(served.seen.asked).toBe(0);
});

test('what the adversary adds of the system counts for nobody', async () => {
  expect(await ask({ 'x-forwarded-user': 'ann', 'x-forwarded-groups': 'system:masters, dev' })).toMatch(
    /^200 .*"name":"ann".*"queues":"None"/,
  );
  expect(served.seen.groups).toEqual(new Set(['dev', 'system:authenticated']));
});

test('a token decides alone, whatever a proxy has added to it', async () => {
  expect(await ask({ authorization: 'Bearer admin, Bearer ann' })).toMatch(/^401 /);
  expect(await ask({ authorization: 'Bearer ann', 'x-forwarded-user': 'admin', 'x-forwarded-groups': 'platform-admins' })).toMatch(
    /^200 .*"name":"ann"/,
  );
});
