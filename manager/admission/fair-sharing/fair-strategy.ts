/** When a Workload of another ClusterQueue may be preempted for the sake of fairness. */
export const FairStrategy = {
  /** Afterwards the preemptor's side has no more than the victim's (rule S2-a of KEP-1714): nobody changes places. */
  LessThanOrEqualToFinalShare: 'LessThanOrEqualToFinalShare',
  /** Afterwards the preemptor's side has less than the victim's had before (rule S2-b): one big Workload may go for a small one. */
  LessThanInitialShare: 'LessThanInitialShare',
} as const;
export type FairStrategy = (typeof FairStrategy)[keyof typeof FairStrategy];

/** Fair sharing as the manager is told to do it. The first strategy is tried first. */
export type FairSharingConfig = { readonly preemptionStrategies: readonly FairStrategy[] };
