/**
 * Which promises are broken, as looks at a running system tell. What is in flight breaks none: a finding counts when it was there, the same
 * one, at every look over the grace period of its invariant. Times are of a clock that does not step, in milliseconds.
 */
export interface Violations<I extends string> {
  /** What one look at a subject has found: nothing, mostly. */
  looked(subject: string, findings: readonly Finding<I>[], nowMs: number): Turn<I>;
  /** Subjects of which something was found at the last look, violation or not. */
  suspects(): Iterable<string>;
  /** How many violations of each invariant there are now. */
  counts(): ReadonlyMap<I, number>;
  current(): readonly Violation<I>[];
}

/** Something that must not last. */
export type Finding<I extends string> = {
  readonly invariant: I;
  /** Says which one it is: with another mark it is another finding, whose time begins anew. */
  readonly mark: string;
  readonly message: string;
};
export type Violation<I extends string> = Finding<I> & { readonly subject: string; readonly sinceMs: number };
/** What has changed with a look. */
export type Turn<I extends string> = { readonly begun: readonly Violation<I>[]; readonly ended: readonly Violation<I>[] };

export function createViolations<I extends string>(graceMsOf: (invariant: I) => number, invariants: readonly I[]): Violations<I> {
  const open = new Map<string, readonly (Violation<I> & { readonly violated: boolean })[]>();
  const counts = new Map<I, number>(invariants.map((invariant) => [invariant, 0]));
  const count = (invariant: I, by: 1 | -1): void => void counts.set(invariant, (counts.get(invariant) ?? 0) + by);
  return {
    looked(subject, findings, nowMs) {
      const before = open.get(subject) ?? [];
      if (before.length === 0 && findings.length === 0) return NOTHING_NEW;
      const now = findings.map((finding) => {
        const known = before.find((each) => each.invariant === finding.invariant && each.mark === finding.mark);
        const sinceMs = known?.sinceMs ?? nowMs;
        return { ...finding, subject, sinceMs, violated: nowMs - sinceMs >= graceMsOf(finding.invariant) };
      });
      if (now.length === 0) open.delete(subject);
      else open.set(subject, now);
      const isIn = (all: typeof now, { invariant, mark }: Finding<I>): boolean =>
        all.some((each) => each.violated && each.invariant === invariant && each.mark === mark);
      const begun = now.filter((each) => each.violated && !isIn([...before], each));
      const ended = before.filter((each) => each.violated && !isIn(now, each));
      for (const { invariant } of begun) count(invariant, 1);
      for (const { invariant } of ended) count(invariant, -1);
      return { begun, ended };
    },
    suspects: () => open.keys(),
    counts: () => counts,
    current: () => [...open.values()].flatMap((findings) => findings.filter(({ violated }) => violated)),
  };
}

const NOTHING_NEW = { begun: [], ended: [] } as const;
