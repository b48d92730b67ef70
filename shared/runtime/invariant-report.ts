/** What live invariants have found. */
export type InvariantReport = {
  /** Now, by invariant. */
  readonly violations: Readonly<Record<string, number>>;
  /** Those that began last, the last one first; the oldest are forgotten. */
  readonly dumps: readonly InvariantDump[];
};
export type InvariantDump = {
  readonly invariant: string;
  readonly subject: string;
  readonly message: string;
  /** RFC 3339. */
  readonly begun: string;
  /** RFC 3339; absent: it still is. */
  readonly ended?: string;
  /** What the caches had when it began. */
  readonly seen: unknown;
};
