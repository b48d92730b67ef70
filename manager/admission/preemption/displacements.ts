import type { AdmissionRecord } from '../../api/records.ts';
import type { Victim } from './preemption.ts';
import type { PreemptionRule } from './preemption-rules.ts';

/** For whom others give their place up. */
export type Displacer = { readonly key: string; readonly uid: string; readonly clusterQueue: string };

/** That an admitted Workload is to give its place up, for whom, and by which rule. */
export type Displacement = { readonly by: Displacer; readonly rule: PreemptionRule };

/**
 * Who is to be suspended for whom, from the decision until the Job says so. In memory only: what a crash leaves undone is decided again, and those who are
 * suspended already count first then.
 */
export interface Displacements {
  /** These, and no others, are to give their place up for this one. Returns the keys of those for whom that is news. */
  replace(by: Displacer, victims: readonly Victim[]): readonly string[];
  /** Takes back what is not wanted any more. Returns the keys of those who stay. */
  withdraw(isWanted: (by: Displacer) => boolean): readonly string[];
  of(key: string): Displacement | undefined;
  /** The Workload is admitted by this record: what was decided about another admission is void. */
  keepFor(key: string, record: AdmissionRecord): void;
  /** It holds nothing any more. */
  forget(key: string): void;
  /** By the key of the one that is to give its place up. */
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
      // Whoever leaves anyway does so for others, or is suspended already.
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

/** Admissions of one Job are told apart by these. */
const admissionOf = ({ clusterQueue, cluster, epoch, since }: AdmissionRecord): string =>
  JSON.stringify([clusterQueue, cluster, epoch, since]);
