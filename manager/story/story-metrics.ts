import { Counter, type Registry } from 'prom-client';

export type StoryMetrics = ReturnType<typeof createStoryMetrics>;

/** Registers the metrics of Events about Jobs. Call once for each registry: a second call throws. */
export function createStoryMetrics(registers: Registry[]) {
  return {
    overrides: new Counter({
      name: 'switchyard_job_overrides_total',
      help: 'Writes of Jobs by field manager switchyard-override.',
      registers,
    }),
    dropped: new Counter({
      name: 'switchyard_story_events_dropped_total',
      help: 'Events of Jobs that were dropped, beyond --story-event-qps.',
      registers,
    }),
  };
}
