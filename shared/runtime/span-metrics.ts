import { Counter, type Registry } from 'prom-client';

/** Counts spans of traces, from zero on. Call once for a registry: a second time throws. */
export function createSpanMetrics(registry: Registry): (result: 'exported' | 'dropped', spans: number) => void {
  const spans = new Counter({
    name: 'switchyard_trace_spans_total',
    help: 'Spans of traces that the collector has taken (exported), or that were dropped because it did not in time.',
    labelNames: ['result'],
    registers: [registry],
  });
  for (const result of ['exported', 'dropped']) spans.inc({ result }, 0);
  return (result, count) => spans.inc({ result }, count);
}
