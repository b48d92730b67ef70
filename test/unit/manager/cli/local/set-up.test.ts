import { expect, test } from 'vitest';
import { SWITCHYARD_KINDS } from '../../../../../manager/api/kinds.ts';
import { areServed } from '../../../../../manager/cli/local/set-up.ts';
import { ApiError } from '../../../../../shared/kube/api-error.ts';

const refusing = (code: number) => ({ raw: () => Promise.reject(new ApiError(code, { code })) });
const serving = (names: readonly string[]) => ({ raw: async () => JSON.stringify({ resources: names.map((name) => ({ name })) }) });
const ALL = SWITCHYARD_KINDS.map(({ resource }) => resource.plural);

test('a real API server answers a plain 404 without a reason while no kind of the group is served: they are waited for', async () => {
  expect(await areServed(refusing(404))).toBe(false);
});

test('kinds are waited for until the last of them is served', async () => {
  expect(await areServed(serving(ALL.slice(1)))).toBe(false);
  expect(await areServed(serving(ALL))).toBe(true);
});

test('any other refusal is thrown', async () => {
  await expect(areServed(refusing(403))).rejects.toMatchObject({ code: 403 });
});
