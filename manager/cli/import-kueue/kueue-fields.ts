import { isJsonObject } from '../../api/json-value.ts';

/**
 * What Kueue has and Switchyard has not, and what that means for whoever comes over. A field that Switchyard learns needs nothing here: it
 * is carried from then on, because the schemas of manager/api say so; a test then asks for its row to be taken out.
 */
export type MissingField = {
  /** Without indexes: `spec.resourceGroups.flavors`. */
  readonly path: string;
  /** What is different without it, and what to do. */
  readonly means: string;
  /** True for values that ask for what happens anyway. */
  readonly asksNothing?: (value: unknown) => boolean;
};

export const MISSING_FIELDS: Readonly<Record<string, readonly MissingField[]>> = {
  ClusterQueue: [{ path: 'spec.concurrentAdmissionPolicy', means: 'a Job keeps the flavor that it was admitted to' }],
  ResourceFlavor: [{ path: 'spec.topologyName', means: 'the pods of a Job are not placed near one another' }],
};

/** Fields that are carried, and mean nothing before the manager is told to: the flag that it needs. Kueue has it in its configuration. */
export const NEEDED_FLAGS: Readonly<
  Record<string, readonly { readonly field: string; readonly flag: string; readonly asksNothing: (value: unknown) => boolean }[]>
> = {
  ClusterQueue: [
    { field: 'fairSharing', flag: '--fair-sharing', asksNothing: isUsualWeight },
    {
      field: 'admissionScope',
      flag: '--admission-fair-sharing-half-life',
      asksNothing: (value) => isJsonObject(value) && value['admissionMode'] === 'NoAdmissionFairSharing',
    },
  ],
  Cohort: [{ field: 'fairSharing', flag: '--fair-sharing', asksNothing: isUsualWeight }],
  LocalQueue: [{ field: 'fairSharing', flag: '--admission-fair-sharing-half-life', asksNothing: isUsualWeight }],
};

function isUsualWeight(value: unknown): boolean {
  return isJsonObject(value) && ['1', 'undefined'].includes(String(value['weight']));
}

export const missingField = (kind: string, path: string): MissingField | undefined =>
  MISSING_FIELDS[kind]?.find((each) => path.replaceAll(/\[\d+\]/g, '') === each.path);

/**
 * The spec of a ClusterQueue without checks that do nothing but dispatch: every Job is dispatched here, and nobody would ever say that they
 * are ready.
 */
export function withoutDispatchChecks(
  spec: Readonly<Record<string, unknown>>,
  dispatchChecks: ReadonlySet<string>,
): Readonly<Record<string, unknown>> {
  const { admissionChecksStrategy: strategy, ...rest } = spec;
  if (!isJsonObject(strategy) || !Array.isArray(strategy['admissionChecks'])) return spec;
  const admissionChecks = strategy['admissionChecks'].filter(
    (check: unknown) => !isJsonObject(check) || !dispatchChecks.has(String(check['name'])),
  );
  return admissionChecks.length === 0 ? rest : { ...rest, admissionChecksStrategy: { ...strategy, admissionChecks } };
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
