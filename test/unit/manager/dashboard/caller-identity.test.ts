import { describe, expect, test } from 'vitest';
import { claimedIdentity } from '../../../../manager/dashboard/caller-identity.ts';
import { createAddressRanges } from '../../../../shared/kube/address-ranges.ts';

const proxy = { userHeader: 'x-forwarded-user', groupsHeader: 'x-forwarded-groups', from: createAddressRanges(['10.0.0.0/8']) };
const asks = (headers: Record<string, string>, address = '10.1.2.3', trusted: typeof proxy | 'None' = proxy) =>
  claimedIdentity(
    { authorization: headers['authorization'], address, header: (name) => headers[name] },
    trusted === 'None' ? undefined : trusted,
  );
const refused = expect.objectContaining({ kind: 'Refused', status: 401 }) as unknown;

describe('who asks', () => {
  test('is told by a token, whatever a proxy says beside it', () => {
    expect(asks({ authorization: 'Bearer abc', 'x-forwarded-user': 'ann' })).toEqual({ kind: 'Token', token: 'abc' });
    expect(asks({}, '10.1.2.3', 'None')).toEqual(refused);
  });

  test('is told by a proxy from its own address alone', () => {
    const user = { username: 'ann', groups: ['dev', 'ops', 'system:authenticated'] };
    expect(asks({ 'x-forwarded-user': 'ann', 'x-forwarded-groups': 'dev, ops,system:masters' })).toEqual({ kind: 'User', user });
    expect(asks({ 'x-forwarded-user': 'ann' }, '::ffff:10.1.2.3')).toMatchObject({ kind: 'User' });
    expect(asks({ 'x-forwarded-user': 'ann' }, '192.168.0.1')).toEqual(refused);
    expect(asks({ 'x-forwarded-user': 'ann' }, '10.1.2.3', 'None')).toEqual(refused);
  });

  test('is nobody of the system because a header says so, and nobody without a name', () => {
    expect(asks({ 'x-forwarded-user': 'system:admin' })).toEqual(refused);
    expect(asks({ 'x-forwarded-user': '  ' })).toEqual(refused);
  });

  test('is not asked from another site with the cookie of the proxy', () => {
    expect(asks({ 'x-forwarded-user': 'ann', 'sec-fetch-site': 'cross-site' })).toMatchObject({ status: 403 });
    expect(asks({ 'x-forwarded-user': 'ann', 'sec-fetch-site': 'same-site' })).toMatchObject({ status: 403 });
    expect(asks({ 'x-forwarded-user': 'ann', 'sec-fetch-site': 'same-origin' })).toMatchObject({ kind: 'User' });
  });

  test('is told by a session before a proxy, for requests of the page alone', () => {
    const session = { kind: 'User', user: { username: 'bob' }, untilMs: 1 } as const;
    const asksWith = (given: typeof session | 'Ended' | 'NotReady', headers: Record<string, string> = {}) =>
      claimedIdentity(
        { authorization: headers['authorization'], address: '10.1.2.3', header: (name) => headers[name], session: given },
        proxy,
      );
    expect(asksWith(session)).toBe(session);
    expect(asksWith(session, { 'x-forwarded-user': 'ann' })).toBe(session);
    expect(asksWith(session, { authorization: 'Bearer abc' })).toEqual({ kind: 'Token', token: 'abc' });
    expect(asksWith(session, { 'sec-fetch-site': 'same-site' })).toMatchObject({ status: 403 });
    expect(asksWith('Ended', { 'x-forwarded-user': 'ann' })).toMatchObject({ kind: 'User', user: { username: 'ann' } });
    expect(asksWith('Ended')).toMatchObject({ status: 401, why: 'the session has ended: sign in again' });
    expect(asksWith('NotReady')).toMatchObject({ status: 503 });
  });
});
