import { SYSTEM_NAMESPACES } from '../../shared/api/denied-namespaces.ts';

/** Rules of an administrator for Jobs: flags of the manager. */
export type JobRules = {
  /** Size as JSON, without managedFields and status. */
  readonly bytesMax: number;
  /** How Jobs whose pods claim devices (dynamic resource allocation) are treated: no quota counts these. */
  readonly resourceClaims: ResourceClaimsRule;
  /** Whether a new Job may also name its queue by Kueue's label. */
  readonly kueueQueueLabel: boolean;
  /** Namespaces whose Jobs are refused: names, or prefixes with `*`. */
  readonly deniedNamespaces: readonly string[];
};

export const RESOURCE_CLAIMS_RULES = ['Refuse', 'Ignore'] as const;
export type ResourceClaimsRule = (typeof RESOURCE_CLAIMS_RULES)[number];

export const DEFAULT_JOB_RULES: JobRules = {
  bytesMax: 256 * 1024,
  resourceClaims: 'Refuse',
  kueueQueueLabel: false,
  deniedNamespaces: SYSTEM_NAMESPACES,
};
