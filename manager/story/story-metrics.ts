import { Counter, type Registry } from 'prom-client';

export type StoryMetrics = ReturnType<typeof createStoryMetrics>;

/** Registers the metrics of Events about Jobs. Call once for each registry: a second call throws. */
export function createStoryMetrics(registers: Registry[]) {
  return {
    overrides: new Counter({
      name: 'switchyard_job_overrides_total',
      help: 'Writes of Jobs that passed by the rules of who may write what, as field manager switchyard-override.',
      registers,
    }),
    dropped: new Counter({
      name: 'switchyard_story_events_dropped_total',
      help: 'Events of the way of Jobs that were not written, because --story-event-qps had no room for them.',
      registers,
    }),
  };
}
