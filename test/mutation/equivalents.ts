/**
 * Mutants that do the same as the original, or something as good, each with the reason. A mutant is known by its file, its line's text and
 * its change, so that an entry outlives lines that move, and ends with the code it is about.
 */
export type Equivalent = {
  readonly file: string;
  /** The line as it stands, without what surrounds it. */
  readonly line: string;
  /** As the study prints it. */
  readonly change: string;
  readonly why: string;
};

export const EQUIVALENTS: readonly Equivalent[] = [
  {
    file: 'manager/admission/controllers/scheduler.ts',
    line: 'const HEADS_MAX = 2_000;',
    change: '2_000 → 4000',
    why: 'how many heads are tried between two pauses is a measure: twice as many are as right',
  },
  {
    file: 'manager/admission/flavors/placement.ts',
    line: 'byKind[kind] = found ?? null;',
    change: 'found ?? null → (found)',
    why: 'that clusters of a kind offer nothing is remembered, and found again for each of them where it is not',
  },
  {
    file: 'manager/admission/scheduling/partial-admission.ts',
    line: 'return largest(workload.minPods + 1, pods - 1, found) ?? fewest;',
    change: '1 → 0',
    why: 'of both ends the answer is known: the fewest pods fit and all do not, and another look finds the same',
  },
  {
    file: 'manager/dispatch/connection/cluster-registry.ts',
    line: 'const rateLimit = { baseDelayMs: 500, maxDelayMs: 30_000 };',
    change: '500 → 1000',
    why: 'the first delay after an error is a measure, and what fails here is tried again every few seconds anyway',
  },
  {
    file: 'shared/kube/event-recorder.ts',
    line: 'const LANES = 4;',
    change: '4 → 8',
    why: 'any number of lanes keeps the events of one object in order',
  },
  {
    file: 'shared/kube/event-recorder.ts',
    line: 'let hash = 0x811c9dc5;',
    change: '0x811c9dc5 → 4332272522',
    why: 'a hash may start anywhere and spreads as well',
  },
  {
    file: 'manager/api/amount.ts',
    line: 'export const smaller = (a: Amount, b: Amount): Amount => (a < b ? a : b);',
    change: '< → <=',
    why: 'of two equal numbers either is the smaller',
  },
  {
    file: 'manager/dispatch/cluster/node-capacity.ts',
    line: 'Object.fromEntries([...amounts].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([resource, each]) => [resource, formatQuantity(each)]));',
    change: '1 → 0',
    why: 'names differ, and the sort asks only whether one goes before the other',
  },
  {
    file: 'manager/admission/decision-log/decision-recorder.ts',
    line: '#section = 0;',
    change: '0 → 1',
    why: 'the number only tells a section from earlier ones, wherever counting begins',
  },
  {
    file: 'manager/submission/weighted-fair-queue.ts',
    line: 'let now = 0;',
    change: '0 → 1',
    why: 'virtual times are only compared, and all begin there; rounding decides at most which of two at the same time goes first',
  },
  {
    file: 'manager/work-kind/job/status-home/to-local-status.ts',
    line: 'const isAfter = (a: string, b: string): boolean => Date.parse(a) > Date.parse(b);',
    change: '> → >=',
    why: 'of a start and an end at the same instant either is the end, and the API server writes both alike',
  },
];
