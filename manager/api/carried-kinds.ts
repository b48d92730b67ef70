/** The kinds of objects that can travel to a worker cluster with a Job, as users name them. */
export const CARRIED_KINDS = ['ConfigMaps', 'Secrets'] as const;
export type CarriedKind = (typeof CARRIED_KINDS)[number];

export const isCarriedKind = (value: unknown): value is CarriedKind => CARRIED_KINDS.some((kind) => kind === value);
