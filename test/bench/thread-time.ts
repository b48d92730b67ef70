import { threadCpuUsage } from 'node:process';

/** Processor time of this thread so far, in milliseconds: what other programs, and the threads that collect garbage beside it, take does not count. */
export function threadMs(): number {
  const { user, system } = threadCpuUsage();
  return (user + system) / 1000;
}
