import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';

const guardModule = new URL('../../../../../../shared/controlplane/controllers/node-agent/process-group.ts', import.meta.url);
const loggerModule = new URL('../../../../../../shared/runtime/logger.ts', import.meta.url);

/** A program that starts two processes, releases the guard from one, and is then killed without warning. */
const PROGRAM = `
  import { spawn } from 'node:child_process';
  import { ProcessGuard } from '${guardModule.href}';
  import { silentLogger } from '${loggerModule.href}';
  const guard = new ProcessGuard(silentLogger);
  const groups = [1, 2].map(() => spawn('/bin/sh', ['-c', 'sleep 60 & sleep 60'], { detached: true, stdio: 'ignore' }).pid);
  for (const group of groups) guard.watch(group);
  guard.release(groups[1]);
  setTimeout(() => {
    console.log(groups.join(' '));
    process.kill(process.pid, 'SIGKILL');
  }, 100);
`;

const isAlive = (groupId: number): boolean => {
  try {
    return process.kill(-groupId, 0);
  } catch {
    return false;
  }
};

test('a program that is killed takes the process groups it watches with it', async () => {
  const program = spawn(process.execPath, ['--input-type=module', '-e', PROGRAM], { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  program.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  await once(program, 'close');
  const [watched = 0, released = 0] = output.trim().split(' ').map(Number);
  await expect.poll(() => isAlive(watched), { timeout: 5000 }).toBe(false);
  expect(isAlive(released)).toBe(true);
  process.kill(-released, 'SIGKILL');
});
