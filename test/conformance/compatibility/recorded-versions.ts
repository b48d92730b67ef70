import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** What one version of Kubernetes serves and has switched on by default. */
export type RecordedVersion = {
  readonly version: string;
  /** The server that was asked; it may play a version before its own. */
  readonly recordedWith: string;
  /** `GROUP/VERSION/RESOURCE`, subresources included. */
  readonly resources: readonly string[];
  /** Of {@link GATES}, those that the version knows. */
  readonly gates: Readonly<Record<string, { readonly stage: string; readonly enabled: boolean }>>;
};

/** The feature gates that play a part for Switchyard. */
export const GATES = [
  'JobManagedBy',
  'JobPodReplacementPolicy',
  'JobSuccessPolicy',
  'JobBackoffLimitPerIndex',
  'SidecarContainers',
  'MutatingAdmissionPolicy',
  'MutablePodResourcesForSuspendedJobs',
  'MutableSchedulingDirectivesForSuspendedJobs',
  'CRDValidationRatcheting',
  'WatchList',
] as const;

export function loadRecordedVersions(): readonly RecordedVersion[] {
  const files = readdirSync(import.meta.dirname).filter((name) => /^v1\.\d+\.json$/.test(name));
  return files.toSorted().map((name) => JSON.parse(readFileSync(path.join(import.meta.dirname, name), 'utf8')) as RecordedVersion);
}
