import type { AdmissionRecord } from '../../api/records.ts';
import type { Victim } from './preemption.ts';
import type { PreemptionRule } from './preemption-rules.ts';

/** The pending Workload for which others are preempted. */
export type Displacer = { readonly key: string; readonly uid: string; readonly clusterQueue: string };

/** The planned preemption of an admitted Workload: its preemptor and the rule. */
export type Displacement = { readonly by: Displacer; readonly rule: PreemptionRule };

/**
 * Planned preemptions, from the decision until the Job records its eviction. They are in memory only: after a crash the scheduler decides
 * again, and evicted Workloads are the first candidates then.
 */
export interface Displacements {
  /** Sets the victims of this preemptor. Returns the keys of the Workloads for which that changes anything. */
  replace(by: Displacer, victims: readonly Victim[]): readonly string[];
  /** Withdraws planned preemptions whose preemptor is not wanted. Returns the keys of the Workloads that stay. */
  withdraw(isWanted: (by: Displacer) => boolean): readonly string[];
  of(key: string): Displacement | undefined;
  /** The Workload is admitted by this record: a preemption planned for another admission is void. */
  keepFor(key: string, record: AdmissionRecord): void;
  /** The Workload holds nothing any more. */
  forget(key: string): void;
  /** All planned preemptions, by the key of the victim. */
  all(): IterableIterator<[string, Displacement]>;
}

export function createDisplacements(): Displacements {
  const displaced = new Map<string, Displacement & { readonly admission: string }>();
  const byDisplacer = new Map<string, Set<string>>();

  const forget = (key: string): void => {
    const by = displaced.get(key)?.by.key;
    if (by === undefined) return;
    displaced.delete(key);
    const keys = byDisplacer.get(by);
    keys?.delete(key);
    if (keys?.size === 0) byDisplacer.delete(by);
  };

  return {
    replace: (by, victims) => {
      const wanted = new Map(victims.map(({ admitted, rule }) => [admitted.reservation.workload.key, { admitted, rule }]));
      const spared = [...(byDisplacer.get(by.key) ?? [])].filter((key) => !wanted.has(key));
      for (const key of spared) forget(key);
      // A leaving Workload is planned for another preemptor, or is suspended already.
      const added = [...wanted].filter(([, { admitted }]) => !admitted.leaving);
      for (const [key, { admitted, rule }] of added) {
        displaced.set(key, { by, rule, admission: admissionOf(admitted.reservation.record) });
        byDisplacer.set(by.key, (byDisplacer.get(by.key) ?? new Set()).add(key));
      }
      return [...spared, ...added.map(([key]) => key)];
    },
    withdraw: (isWanted) => {
      const spared = [...displaced].filter(([, { by }]) => !isWanted(by)).map(([key]) => key);
      for (const key of spared) forget(key);
      return spared;
    },
    of: (key) => displaced.get(key),
    keepFor: (key, record) => {
      const known = displaced.get(key);
      if (known !== undefined && known.admission !== admissionOf(record)) forget(key);
    },
    forget,
    all: () => displaced.entries(),
  };
}

/** Identifies one admission among those of a Job. */
const admissionOf = ({ clusterQueue, cluster, epoch, since }: AdmissionRecord): string =>
  JSON.stringify([clusterQueue, cluster, epoch, since]);
