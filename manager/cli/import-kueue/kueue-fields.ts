import { isJsonObject } from '../../api/json-value.ts';

/**
 * What Kueue has and Switchyard has not, and what that means for whoever comes over. A field that Switchyard learns needs nothing here: it is carried from then
 * on, because the schemas of manager/api say so; a test then asks for its row to be taken out.
 */
export type MissingField = {
  /** Without indexes: `spec.resourceGroups.flavors`. */
  readonly path: string;
  /** What is different without it, and what to do. */
  readonly means: string;
  /** True for values that ask for what happens anyway. `dispatchChecks` are the names of admission checks that do nothing but dispatch. */
  readonly asksNothing?: (value: unknown, dispatchChecks: ReadonlySet<string>) => boolean;
};

const NO_WEIGHT: MissingField = {
  path: 'spec.fairSharing',
  means: 'idle quota goes to whoever comes first by priority and age, whatever the weights',
  asksNothing: (value) => isJsonObject(value) && (value['weight'] ?? 1) === 1,
};

export const MISSING_FIELDS: Readonly<Record<string, readonly MissingField[]>> = {
  ClusterQueue: [
    {
      path: 'spec.admissionChecksStrategy',
      means: 'Jobs are admitted without these checks',
      asksNothing: (value, dispatchChecks) => checkNames(value).every((name) => dispatchChecks.has(name)),
    },
    NO_WEIGHT,
    {
      path: 'spec.admissionScope',
      means: 'what a LocalQueue has used plays no part in the order of its Jobs',
      asksNothing: (value) => isJsonObject(value) && (value['admissionMode'] ?? 'NoAdmissionFairSharing') === 'NoAdmissionFairSharing',
    },
    { path: 'spec.concurrentAdmissionPolicy', means: 'a Job keeps the flavor that it was admitted to' },
  ],
  Cohort: [NO_WEIGHT],
  LocalQueue: [
    { ...NO_WEIGHT, means: 'the LocalQueues of a ClusterQueue share it by priority and age of their Jobs, whatever the weights' },
  ],
  ResourceFlavor: [{ path: 'spec.topologyName', means: 'the pods of a Job are not placed near one another' }],
};

export const missingField = (kind: string, path: string): MissingField | undefined =>
  MISSING_FIELDS[kind]?.find((each) => path.replaceAll(/\[\d+\]/g, '') === each.path);

function checkNames(strategy: unknown): string[] {
  const checks = isJsonObject(strategy) && Array.isArray(strategy['admissionChecks']) ? strategy['admissionChecks'] : [];
  return checks.map((check: unknown) => (isJsonObject(check) ? String(check['name']) : ''));
}

/** What fields of v1beta2 are called in v1beta1, where that is something else. */
export const OLD_NAMES: Readonly<Record<string, string>> = {
  'spec.cohortName': 'spec.cohort',
  'spec.admissionChecksStrategy': 'spec.admissionChecks',
};

/** The spec of a v1beta1 object in the words of v1beta2, as Kueue itself converts it. */
export function specInNewWords(kind: string, spec: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  if (kind !== 'ClusterQueue') return spec;
  const { cohort, admissionChecks, flavorFungibility, ...rest } = spec;
  const checks = Array.isArray(admissionChecks) ? admissionChecks.map((name: unknown) => ({ name })) : [];
  return {
    ...rest,
    ...(cohort === undefined ? {} : { cohortName: cohort }),
    ...(checks.length === 0 ? {} : { admissionChecksStrategy: { admissionChecks: checks } }),
    ...(isJsonObject(flavorFungibility) ? { flavorFungibility: fungibilityInNewWords(flavorFungibility) } : {}),
  };
}

const fungibilityInNewWords = (fungibility: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(
    Object.entries(fungibility).map(([name, value]) => [name, value === 'Borrow' || value === 'Preempt' ? 'MayStopSearch' : value]),
  );
