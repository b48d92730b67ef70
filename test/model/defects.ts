/** Defects that are put back into the model: each of them has to be found. Their order is that of their numbers in one-copy.pml. */

/** How much strikes in a search: how often at most each kind of fault does, and how many of all together (FAULTS). */
export type Settings = Readonly<Record<string, number>>;
export type ModelDefect = {
  /** As one-copy.pml names it. */
  readonly name: string;
  readonly settings: Settings;
};

export const MODEL_DEFECTS: readonly ModelDefect[] = [
  { name: 'TAKEN_NAME_IS_A_NO', settings: { FAULTS: 1, EDITS: 1 } },
  { name: 'MOVES_BEFORE_PODS_ARE_GONE', settings: {} },
  { name: 'LOST_ANSWER_IS_A_NO', settings: {} },
  { name: 'NO_DOUBT_AFTER_A_RESTART', settings: { FAULTS: 1, LEADERS: 1 } },
  { name: 'CLUSTERS_WITHOUT_IDENTITY', settings: { FAULTS: 1, REPOINTS: 1 } },
  { name: 'STALE_LEADER_WRITES', settings: { FAULTS: 1, LEADERS: 1 } },
  { name: 'REFUSALS_TELL_NOBODY', settings: { FAULTS: 1, REFUSALS: 1, CALM: 1 } },
  { name: 'EVERY_CLUSTER_HAS_TO_BE_SEEN', settings: { FAULTS: 1, CUTS: 1, CALM: 1, CUT_FOR_GOOD: 1 } },
  { name: 'SILENT_AFTER_A_RESTORE', settings: { FAULTS: 1, RESTORES: 1 } },
  { name: 'W1_STOPPED_IS_FAILED', settings: { STOPS: 2 } },
  { name: 'W3_NO_WORKER_IS_READY', settings: { FAULTS: 1, DEATHS: 1, CALM: 1 } },
  { name: 'W4_LAST_FLAGS_BIND', settings: { FAULTS: 2, RESTARTS: 1, CUTS: 1, STOPS: 0 } },
  { name: 'W6_CLOCKS_ARE_COMPARED', settings: { FAULTS: 2, LEADERS: 1, CUTS: 1, STOPS: 0 } },
  { name: 'W7_GONE_COPY_IS_GONE_PODS', settings: { FAULTS: 1, REMOVALS: 1 } },
  { name: 'HOME_GOES_ON_AFTER_A_RESTORE', settings: { FAULTS: 1, HOME_RESTORES: 1 } },
  { name: 'HOME_SETTLES_AT_ONCE', settings: { FAULTS: 1, HOME_RESTORES: 1 } },
  { name: 'A_LOOK_SETTLES_WHAT_IS_LATE', settings: { FAULTS: 1, REMOVALS: 1 } },
  { name: 'TO_BE_SUSPENDED_IS_IN_PLACE', settings: { FAULTS: 1, CUTS: 1 } },
  { name: 'EDITED_OUT_OF_SIGHT', settings: { FAULTS: 2, CUTS: 1, EDITS: 1 } },
];

/** What is searched without a defect. */
export const SEARCHES: readonly { readonly name: string; readonly settings: Settings }[] = [
  { name: 'nothing strikes', settings: { FAULTS: 0, STOPS: 2, DETAIL: 1 } },
  { name: 'what may run ends where a cluster refuses it', settings: { FAULTS: 1, STOPS: 1, REFUSALS: 1, CALM: 1, DETAIL: 1 } },
  // In detail it has 21 million states: five minutes and 2.7 GiB, for `npm run model`.
  {
    name: 'a leader dies, or stands still with a write',
    settings: { FAULTS: 1, STOPS: 1, LEADERS: 1, DETAIL: process.env['SWITCHYARD_WHOLE_MODEL'] === '1' ? 1 : 0 },
  },
  { name: 'a change of leader while a cluster is cut off', settings: { FAULTS: 2, STOPS: 0, LEADERS: 1, CUTS: 1 } },
  { name: 'a cut, and marks that are edited at any time', settings: { FAULTS: 2, STOPS: 1, CUTS: 1, EDITS: 1 } },
];
