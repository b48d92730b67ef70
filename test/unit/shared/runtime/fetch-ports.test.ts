import { expect, test } from 'vitest';
import { isRefusedByFetch } from '../../../../shared/runtime/fetch-ports.ts';

test.each([1, 22, 6000, 6667, 10_080])('a server on port %i is never reached', (port) => {
  expect(isRefusedByFetch(port)).toBe(true);
});

test.each([0, 80, 443, 2, 8080, 6443, 6379, 10_081, 65_535])('a server on port %i is reached', (port) => {
  expect(isRefusedByFetch(port)).toBe(false);
});

test('a port is refused exactly where fetch itself refuses it', async () => {
  /** An aborted request never leaves; a bad port is found out before that is looked at, or not at all. */
  const causeOf = async (port: number): Promise<string> => {
    const error = await fetch(`http://127.0.0.1:${port}`).then(
      () => undefined,
      (failure: unknown) => failure,
    );
    return error instanceof Error && error.cause instanceof Error ? error.cause.message : '';
  };
  for (const port of [1, 19, 6697, 10_080]) expect(await causeOf(port)).toBe('bad port');
});
