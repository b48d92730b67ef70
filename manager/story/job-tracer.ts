import type { DeepReadonly, WorkObject } from '../../shared/api/kubernetes.ts';
import { MANAGER_CONTROLLER_NAME } from '../../shared/api/names.ts';
import { parseWireTime } from '../../shared/api/wire-time.ts';
import type { EventHandler } from '../../shared/kube/informer.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { SpanExporter } from '../../shared/runtime/span-exporter.ts';
import type { RecordReader } from '../api/records.ts';
import { deletedSpans, jobSpans, type Instants } from './job-spans.ts';
import type { SeenJob } from './story-events.ts';
import type { WorkKind } from '../work-kind/work-kind.ts';

/** Exports the life of each Job as spans while this manager leads. */
export interface JobTracer {
  readonly handler: EventHandler<WorkObject>;
  /** Exports until `signal` aborts. */
  lead(signal: AbortSignal): void;
}

/** Jobs whose observed times are kept; for others times are to the second. */
const REMEMBERED_MAX = 20_000;
/** An event observed later than this was late: the watch lagged, or the clocks differ. */
const LATE_MS = 2_000;

export function createJobTracer(deps: {
  readonly kind: WorkKind;
  readonly exporter: Pick<SpanExporter, 'export'>;
  readonly ratio: number;
  readonly readRecord: RecordReader;
  readonly clock: Pick<Clock, 'now'>;
}): JobTracer {
  const { kind, exporter, ratio, readRecord, clock } = deps;
  let leading: AbortSignal | undefined;
  const seenMs = new Map<string, Map<string, number>>();

  function remember(uid: string, what: string, ms: number): void {
    const seen = seenMs.get(uid) ?? new Map<string, number>();
    seenMs.delete(uid);
    seenMs.set(uid, seen.set(what, ms));
    if (seenMs.size > REMEMBERED_MAX) seenMs.delete(seenMs.keys().next().value ?? '');
  }

  const instantsOf = (uid: string): Instants => ({
    began: (what, wireMs) => seenMs.get(uid)?.get(what) ?? wireMs,
    ended(what, wireMs) {
      const lateMs = clock.now() - wireMs;
      if (lateMs < 0 || lateMs >= LATE_MS) return wireMs;
      remember(uid, what, clock.now());
      return clock.now();
    },
  });

  const isTold = (job: DeepReadonly<WorkObject>): boolean =>
    leading !== undefined && !leading.aborted && kind.controllerOf(job) === MANAGER_CONTROLLER_NAME;
  const seen = (job: DeepReadonly<WorkObject>): SeenJob => {
    const read = readRecord(job);
    return { kind, job, record: read.kind === 'Record' ? read.record : undefined };
  };

  return {
    handler: {
      added(job) {
        const createdMs = parseWireTime(job.metadata.creationTimestamp);
        if (isTold(job) && createdMs !== undefined) instantsOf(job.metadata.uid).ended('created', createdMs);
      },
      updated(next, previous) {
        if (!isTold(next)) return;
        for (const span of jobSpans(seen(previous), seen(next), ratio, instantsOf(next.metadata.uid))) exporter.export(span);
      },
      deleted(job) {
        const { uid } = job.metadata;
        if (isTold(job)) for (const span of deletedSpans(seen(job), ratio, instantsOf(uid), clock.now())) exporter.export(span);
        seenMs.delete(uid);
      },
    },
    lead: (signal) => {
      leading = signal;
    },
  };
}
