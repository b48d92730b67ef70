import type { Job } from '../../shared/api/kubernetes.ts';
import type { EventHandler } from '../../shared/kube/informer.ts';
import type { SpanExporter } from '../../shared/runtime/span-exporter.ts';
import { controllerNameOf } from '../job/job-view.ts';
import { copySpan } from './copy-span.ts';

/** Exports how copies ran, as they end. */
export const spanTriggers = (spans: Pick<SpanExporter, 'export'>, controllerName: string): EventHandler<Job> => ({
  updated(next, previous) {
    const span = controllerNameOf(next) === controllerName ? copySpan(previous, next) : undefined;
    if (span !== undefined) spans.export(span);
  },
});
