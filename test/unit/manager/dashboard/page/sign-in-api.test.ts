import { describe, expect, test } from 'vitest';
import { createSignInApi, signInAt } from '../../../../../manager/dashboard/page/api.ts';

type Asked = { readonly url: string; readonly init: RequestInit };

/** A manager that answers so; undefined: it does not answer. */
function apiBefore(
  status: number | undefined,
  body: object = {},
): { readonly api: ReturnType<typeof createSignInApi>; readonly asked: Asked[] } {
  const asked: Asked[] = [];
  const send = (async (url: string, init: RequestInit) => {
    asked.push({ url, init });
    if (status === undefined) throw new TypeError('Failed to fetch');
    return new Response(status === 204 ? null : JSON.stringify(body), { status });
  }) as typeof fetch;
  return { api: createSignInApi(send), asked };
}

describe('sign-in by OIDC in the page', () => {
  test('begins at an address that leads back to the place of the page', () => {
    expect(signInAt('#/jobs?state=Waiting&text=a b')).toBe('./oidc/sign-in?place=%23%2Fjobs%3Fstate%3DWaiting%26text%3Da%20b');
  });

  test('shows what the manager says, and nothing where it does not answer', async () => {
    expect(await apiBefore(200, { name: 'Example', problem: 'no' }).api.provider()).toEqual({ name: 'Example', problem: 'no' });
    expect(await apiBefore(undefined).api.provider()).toEqual({});
    expect(await apiBefore(503).api.provider()).toEqual({});
  });

  test('prolongs a session where the provider lets it, and asks again where the manager is away', async () => {
    const { api, asked } = apiBefore(200, { sessionMs: 5 });
    expect(await api.prolong()).toBe(5);
    expect(asked).toMatchObject([{ url: './oidc/refresh', init: { method: 'POST', headers: { 'x-switchyard-dashboard': '1' } } }]);
    expect(await apiBefore(409).api.prolong()).toBeUndefined();
    expect([await apiBefore(503).api.prolong(), await apiBefore(undefined).api.prolong()]).toEqual(['NoAnswer', 'NoAnswer']);
  });

  test('says whether the session has ended', async () => {
    expect([await apiBefore(204).api.signOut(), await apiBefore(403).api.signOut(), await apiBefore(undefined).api.signOut()]).toEqual([
      true,
      false,
      false,
    ]);
  });
});
