/** The kinds of objects that can travel to a worker cluster with a Job, as users name them. */
export const CARRIED_KINDS = ['ConfigMaps', 'Secrets'] as const;
export type CarriedKind = (typeof CARRIED_KINDS)[number];

/** Current: a Job that moves takes what is there now. Admitted: it takes what its first copy had, or waits. */
export const CARRY_CONTENTS = ['Current', 'Admitted'] as const;
export type CarryContent = (typeof CARRY_CONTENTS)[number];

export const isCarriedKind = (value: unknown): value is CarriedKind => CARRIED_KINDS.some((kind) => kind === value);
