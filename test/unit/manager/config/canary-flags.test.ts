import { expect, test } from 'vitest';
import { MANAGER_PROGRAM } from '../../../../manager/config/config.ts';
import { parseFlags } from '../../../../shared/runtime/flags.ts';

const read = (...args: string[]) => {
  const parsed = parseFlags(MANAGER_PROGRAM, args, {});
  if (parsed.kind !== 'Run') throw new Error(JSON.stringify(parsed));
  return parsed.config.canary;
};

test('there are no canaries unless somebody asks for them, and says where they queue', () => {
  expect(read()).toBeUndefined();
  expect(read('--canary-queue=ops/canaries')).toBeUndefined();
  expect(read('--canary-interval=5m', '--canary-queue=ops/canaries')).toEqual({
    namespace: 'ops',
    queue: 'canaries',
    image: 'busybox:1.37',
    intervalMs: 300_000,
    timeoutMs: 300_000,
  });
  expect(() => read('--canary-interval=5m')).toThrow('needs --canary-queue');
  expect(() => read('--canary-interval=1s', '--canary-queue=a/b')).toThrow('less than 10s');
  for (const queue of ['main', '/main', 'a/', 'a/b/c'])
    expect(() => read('--canary-interval=5m', `--canary-queue=${queue}`)).toThrow('NAMESPACE/NAME');
});
