import { stateAt } from '../api/past-admissions.ts';
import type { JobSpan } from './time-line.ts';
import type { PastOverview } from './past-views.ts';
import type { JobLine } from './views.ts';

/** A Job with its times, from which its state at a past moment is computed. */
export type PastJob = JobSpan & { readonly line: JobLine };

const SHOWN = 24;

/** The waiting and running Jobs at one moment. */
export interface Moment {
  add(job: PastJob): void;
  snapshot(): Pick<PastOverview, 'waiting' | 'running' | 'unknown'>;
}

/**
 * Jobs that waited or were held then, by queue, that were admitted, by cluster, and of which neither is recorded. `queueOf`: the
 * ClusterQueue of a LocalQueue (`NAMESPACE/NAME`), where the viewer may see it.
 */
export function createMoment(atMs: number, queueOf: (localQueue: string) => string | undefined): Moment {
  const waiting = new Map<string, { readonly name: string; readonly isLocal: boolean; readonly jobs: Firsts }>();
  const running = new Map<string, Firsts>();
  const unknown = createFirsts();
  return {
    add({ createdMs, endedMs, past, line }) {
      if (createdMs > atMs || (endedMs !== undefined && endedMs <= atMs)) return;
      const { key, kind, uid, queue } = line;
      // The progress of the Job at that moment is unknown: it is shown as one completion.
      const then = {
        key,
        ...(kind !== undefined && { kind }),
        uid,
        createdMs,
        completions: 1,
        active: 0,
        succeeded: 0,
        failed: 0,
        ...(queue !== undefined && { queue }),
      };
      const state = stateAt(past, atMs);
      if (state.kind === 'Unknown') return unknown.add(createdMs, key, () => ({ ...then, state: 'Waiting' }));
      if (state.kind === 'Admitted') {
        const { fromMs: admittedMs, cluster } = state.admission;
        const there = running.get(cluster ?? '') ?? createFirsts();
        running.set(cluster ?? '', there);
        there.add(admittedMs, key, () => ({ ...then, state: 'Running', admittedMs, ...(cluster !== undefined && { cluster }) }));
        return;
      }
      const local = `${key.slice(0, key.indexOf('/'))}/${queue ?? ''}`;
      const seen = queueOf(local);
      const name = seen ?? local;
      const there = waiting.get(name) ?? { name, isLocal: seen === undefined, jobs: createFirsts() };
      waiting.set(name, there);
      there.jobs.add(createdMs, key, () => ({ ...then, state: state.kind }));
    },
    snapshot: () => ({
      waiting: [...waiting.values()].toSorted(byName).map(({ jobs, ...queue }) => ({ ...queue, ...jobs.told() })),
      running: [...running].map(([name, jobs]) => ({ name, ...jobs.told() })).toSorted(byName),
      ...(unknown.told().count === 0 ? {} : { unknown: namesOf(unknown.told()) }),
    }),
  };
}

const namesOf = ({ count, first }: ReturnType<Firsts['told']>): NonNullable<PastOverview['unknown']> => ({
  count,
  first: first.map(({ key }) => key),
});

/** The number of Jobs, and the first of them by time, then by name. */
type Firsts = {
  add(cameMs: number, key: string, line: () => JobLine): void;
  told(): { readonly count: number; readonly first: readonly JobLine[] };
};

function createFirsts(): Firsts {
  let count = 0;
  /** Sorted, and never longer than shown: sorting all Jobs would take as long as reading them. */
  const first: { readonly cameMs: number; readonly line: JobLine }[] = [];
  return {
    add(cameMs, key, line) {
      count++;
      let place = first.length;
      while (place > 0 && isBefore(cameMs, key, first[place - 1])) place--;
      if (place === SHOWN) return;
      first.splice(place, 0, { cameMs, line: line() });
      if (first.length > SHOWN) first.pop();
    },
    told: () => ({ count, first: first.map(({ line }) => line) }),
  };
}

const isBefore = (cameMs: number, key: string, other: { readonly cameMs: number; readonly line: JobLine } | undefined): boolean =>
  other !== undefined && (cameMs < other.cameMs || (cameMs === other.cameMs && key < other.line.key));

const byName = (a: { readonly name: string }, b: { readonly name: string }): number => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0);
