/** What the kernel tells of a process; NaN where there is no /proc. */
import { existsSync, readFileSync } from 'node:fs';

const CLOCK_TICKS_PER_SECOND = 100;
const PAGE_BYTES = 4096;

/** User and system time so far. */
export function cpuSecondsOf(pid: number): number {
  const file = `/proc/${pid}/stat`;
  if (!existsSync(file)) return Number.NaN;
  const fields = readFileSync(file, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_SECOND;
}

export function residentBytesOf(pid: number): number {
  const file = `/proc/${pid}/statm`;
  return existsSync(file) ? Number(readFileSync(file, 'utf8').split(' ')[1]) * PAGE_BYTES : Number.NaN;
}

/** The most that it ever kept. */
export function peakResidentBytesOf(pid: number): number {
  const file = `/proc/${pid}/status`;
  return existsSync(file) ? Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(file, 'utf8'))?.[1]) * 1024 : Number.NaN;
}

/** Processes that it has started itself and that have not ended; none where there is no /proc. */
export function childrenOf(pid: number): readonly number[] {
  const file = `/proc/${pid}/task/${pid}/children`;
  return existsSync(file) ? readFileSync(file, 'utf8').split(' ').filter(Boolean).map(Number) : [];
}
