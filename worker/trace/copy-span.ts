import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import { spanIdOf } from '../../shared/api/job-trace.ts';
import { TRACEPARENT_ANNOTATION } from '../../shared/api/names.ts';
import { parseTraceparent, type TraceContext } from '../../shared/api/trace-context.ts';
import { parseWireTime } from '../../shared/api/wire-time.ts';
import { finishedCondition } from '../../shared/kube/conditions.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import type { Span } from '../../shared/runtime/span.ts';

/** The trace that a Job of this cluster belongs to, as its annotation says; undefined where it says none. */
export const traceOfCopy = ({ metadata }: DeepReadonly<Job>): TraceContext | undefined =>
  parseTraceparent(metadata.annotations?.[TRACEPARENT_ANNOTATION]);

/** How the pods of a Job ran on this cluster, from its start to its end, once that is seen; undefined where it is not traced. */
export function copySpan(before: DeepReadonly<Job>, after: DeepReadonly<Job>): Span | undefined {
  const { metadata, status } = after;
  const end = finishedCondition(status);
  const trace = traceOfCopy(after);
  const startMs = parseWireTime(status?.startTime);
  const endMs = parseWireTime(status?.completionTime ?? end?.lastTransitionTime);
  if (end === undefined || finishedCondition(before.status) !== undefined || trace?.sampled !== true) return undefined;
  if (startMs === undefined || endMs === undefined) return undefined;
  return {
    traceId: trace.traceId,
    spanId: spanIdOf(trace.traceId, metadata.uid, 'run'),
    parentSpanId: trace.spanId,
    name: 'run',
    startMs: Math.min(startMs, endMs),
    endMs,
    attributes: {
      'k8s.namespace.name': metadata.namespace ?? '',
      'k8s.job.name': metadata.name,
      'k8s.job.uid': metadata.uid,
      'switchyard.pods.succeeded': status?.succeeded ?? 0,
      'switchyard.pods.failed': status?.failed ?? 0,
    },
    ...omitUndefined({ error: end.type === 'Failed' ? `${end.reason ?? 'Failed'}: ${end.message ?? ''}` : undefined }),
  };
}
