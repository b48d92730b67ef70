import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import { jobTrace } from '../../shared/api/job-trace.ts';
import type { LogFields, Logger } from '../../shared/runtime/logger.ts';

/** A logger that adds the trace id to lines about a Job (field `job`, `namespace/name`), where the Job is known. */
export function tracedLog(log: Logger, jobOf: (key: string) => DeepReadonly<Job> | undefined): Logger {
  const traced = (fields: LogFields | undefined): LogFields | undefined => {
    const key = fields?.['job'];
    const job = typeof key === 'string' ? jobOf(key) : undefined;
    return job === undefined ? fields : { ...fields, trace_id: jobTrace(job).traceId };
  };
  return {
    debug: (message, fields) => log.debug(message, traced(fields)),
    info: (message, fields) => log.info(message, traced(fields)),
    warn: (message, fields) => log.warn(message, traced(fields)),
    error: (message, fields) => log.error(message, traced(fields)),
    with: (fields) => tracedLog(log.with(traced(fields) ?? {}), jobOf),
  };
}
