import { Counter, type Registry } from 'prom-client';
import { fromZero } from './zero-series.ts';

/** Counts spans of traces, from zero on. Call once for a registry: a second time throws. */
export function createSpanMetrics(registry: Registry): (result: 'exported' | 'dropped', spans: number) => void {
  const spans = new Counter({
    name: 'switchyard_trace_spans_total',
    help: 'Spans that were exported, or dropped because the collector did not take them in time.',
    labelNames: ['result'],
    registers: [registry],
  });
  fromZero(spans, { result: ['exported', 'dropped'] });
  return (result, count) => spans.inc({ result }, count);
}
