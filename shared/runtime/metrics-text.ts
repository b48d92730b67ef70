import { Registry, type Metric } from 'prom-client';
import type { Clock } from './clock.ts';
import { createTimeSlices } from './time-slices.ts';

const SLICE_MS = 10;
const LINES_AT_ONCE = 1_000;

/**
 * The text of /metrics as the registry has it, byte for byte (in Prometheus' own format), written in slices: that of a large installation
 * takes longer than others should wait.
 */
export function createMetricsText(registry: Registry, clock: Clock): { metrics(): Promise<string>; readonly contentType: string } {
  return {
    contentType: registry.contentType,
    async metrics() {
      const slices = createTimeSlices(clock, SLICE_MS);
      const parts: string[] = [];
      for (const { name } of registry.getMetricsAsArray()) {
        const lines: string[] = [];
        const told = await toldOf(registry.getSingleMetric(name));
        let part = told;
        const writer = new Registry();
        writer.registerMetric({ name, get: async () => part } as unknown as Metric);
        for (let first = 0; first === 0 || first < told.values.length; first += LINES_AT_ONCE) {
          await slices.nextWhenOver();
          part = { ...told, values: told.values.slice(first, first + LINES_AT_ONCE) };
          const text = await writer.getSingleMetricAsString(name);
          lines.push(first === 0 ? text : withoutHeader(text));
        }
        parts.push(lines.join('\n'));
      }
      return `${parts.join('\n\n')}\n`;
    },
  };
}

type Told = { readonly name: string; readonly values: readonly unknown[] };

/** As the library reads it for a text: of histograms it has a shorter way, which its types do not show. */
async function toldOf(metric: Metric | undefined): Promise<Told> {
  const told: unknown = await (metric !== undefined && 'getForPromString' in metric && typeof metric.getForPromString === 'function'
    ? metric.getForPromString()
    : metric?.get());
  return told as Told;
}

/** Help and type. */
const withoutHeader = (text: string): string => text.slice(text.indexOf('\n', text.indexOf('\n') + 1) + 1);
