import type { PackingJob } from './jobs.ts';

/** Jobs of a log, without their queues' numbers brought down to those of the bench. */
export type SwfLog = {
  readonly jobs: readonly PackingJob[];
  /** Processors of the machine: `MaxProcs` of the header; undefined without it. */
  readonly processors: number | undefined;
  /** Lines of Jobs that never ran, and of parts of Jobs that are in the log as a whole as well. */
  readonly leftOut: number;
};

export class SwfError extends Error {
  override readonly name = 'SwfError';
}

/** Positions of the fields in a line, from 0: version 2.2 of the format has eighteen, and -1 for what is not known. */
const FIELDS = 18;
const Field = {
  Job: 0,
  Submit: 1,
  Run: 3,
  AllocatedProcessors: 4,
  RequestedProcessors: 7,
  RequestedTime: 8,
  Status: 10,
  User: 11,
  Executable: 13,
  Queue: 14,
} as const;
/** Parts of a Job that was checkpointed: to be continued, and the last one, completed or failed. */
const PARTIAL_STATUS = [2, 3, 4];

/**
 * Reads a log in the Standard Workload Format of the Parallel Workloads Archive, version 2.2. Each processor is a pod of one cpu. A Job
 * without a requested time states its run time. Throws SwfError, which names the line, when the text has another format.
 */
export function parseSwf(text: string): SwfLog {
  const jobs: PackingJob[] = [];
  let processors: number | undefined;
  let leftOut = 0;
  for (const [index, line] of text.split('\n').entries()) {
    const content = line.trim();
    if (content === '') continue;
    if (content.startsWith(';')) {
      const [, most] = /^;\s*MaxProcs:\s*(\d+)/.exec(content) ?? [];
      if (most !== undefined) processors = Number(most);
      continue;
    }
    const job = jobOf(content, index + 1);
    if (job === undefined) leftOut++;
    else jobs.push(job);
  }
  return { jobs: jobs.toSorted((a, b) => a.arrivalMs - b.arrivalMs), processors, leftOut };
}

function jobOf(line: string, number: number): PackingJob | undefined {
  const fields = line.split(/\s+/).map(Number);
  if (fields.length !== FIELDS || fields.some((field) => !Number.isFinite(field)))
    throw new SwfError(`line ${number} is not of the Standard Workload Format: it needs ${FIELDS} numbers, and -1 where one is not known`);
  const at = (field: keyof typeof Field): number => fields[Field[field]] ?? -1;
  const cpu = at('AllocatedProcessors') > 0 ? at('AllocatedProcessors') : at('RequestedProcessors');
  const runMs = Math.round(at('Run') * 1000);
  if (cpu <= 0 || runMs <= 0 || at('Submit') < 0 || PARTIAL_STATUS.includes(at('Status'))) return undefined;
  return {
    name: `job-${at('Job')}-${number}`,
    queue: Math.max(0, at('Queue') >= 0 ? at('Queue') : at('User')),
    family: `${at('User')} ${at('Executable')} ${cpu}`,
    arrivalMs: Math.round(at('Submit') * 1000),
    cpu,
    pods: cpu,
    runMs,
    limitMs: at('RequestedTime') > 0 ? Math.round(at('RequestedTime') * 1000) : runMs,
  };
}
