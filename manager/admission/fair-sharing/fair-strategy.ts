/** When fair sharing may preempt a Workload of another ClusterQueue. */
export const FairStrategy = {
  /** The preemptor's side does not exceed the victim's side afterwards (rule S2-a of KEP-1714): the two do not swap places. */
  LessThanOrEqualToFinalShare: 'LessThanOrEqualToFinalShare',
  /** The preemptor's side stays below the victim's share before (rule S2-b): one large Workload may be preempted for a small one. */
  LessThanInitialShare: 'LessThanInitialShare',
} as const;
export type FairStrategy = (typeof FairStrategy)[keyof typeof FairStrategy];

/** The fair sharing configuration of the manager. The first strategy is tried first. */
export type FairSharingConfig = { readonly preemptionStrategies: readonly FairStrategy[] };
