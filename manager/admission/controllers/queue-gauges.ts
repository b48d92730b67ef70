import type { Gauge } from 'prom-client';

/**
 * Gauges that are set in rounds: a series not set in a round is removed at its end. Only changed values are set, because there may be
 * thousands of queues with few changes.
 */
export interface QueueGauges {
  set<L extends string>(gauge: Gauge<L>, labels: Readonly<Record<L, string>>, value: number): void;
  /** Ends a round in which all series were set. */
  endRound(): void;
}

export function createQueueGauges(): QueueGauges {
  const told = new Map<Gauge, Map<string, Told>>();
  let round = 0;
  return {
    set: (gauge, labels, value) => {
      const ofGauge = told.get(gauge) ?? new Map<string, Told>();
      told.set(gauge, ofGauge);
      const id = JSON.stringify(labels);
      const before = ofGauge.get(id);
      if (before === undefined || !Object.is(before.value, value)) gauge.set(labels, value);
      ofGauge.set(id, { labels, value, round });
    },
    endRound: () => {
      for (const [gauge, ofGauge] of told) {
        for (const [id, each] of ofGauge) {
          if (each.round === round) continue;
          gauge.remove(each.labels);
          ofGauge.delete(id);
        }
      }
      round++;
    },
  };
}

type Told = { readonly labels: Readonly<Record<string, string>>; readonly value: number; readonly round: number };
