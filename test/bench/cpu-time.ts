import { readFileSync } from 'node:fs';
import { cpuUsage, pid, threadCpuUsage } from 'node:process';

/**
 * Processor time of this process so far, in milliseconds: what other programs of the machine take does not count, what collects garbage
 * beside it does.
 */
export function cpuMs(): number {
  const { user, system } = cpuUsage();
  return (user + system) / 1000;
}

/**
 * The same of the main thread alone: compilers and collectors that run beside it do not count. Linux says it exactly where it keeps
 * schedstat; what Node says is on some machines in steps of 4 ms.
 */
export function threadCpuMs(): number {
  const nanoseconds = schedstat();
  if (nanoseconds !== undefined) return nanoseconds / 1_000_000;
  const { user, system } = threadCpuUsage();
  return (user + system) / 1000;
}

function schedstat(): number | undefined {
  try {
    return Number(readFileSync(`/proc/self/task/${pid}/schedstat`, 'utf8').split(' ')[0]);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}
