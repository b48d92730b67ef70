import { cpuUsage, threadCpuUsage } from 'node:process';

/** Processor time of this process so far, in milliseconds: what other programs of the machine take does not count, what collects garbage beside it does. */
export function cpuMs(): number {
  const { user, system } = cpuUsage();
  return (user + system) / 1000;
}

/** The same of this thread alone: compilers and collectors that run beside it do not count. */
export function threadCpuMs(): number {
  const { user, system } = threadCpuUsage();
  return (user + system) / 1000;
}
