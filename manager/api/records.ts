import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import { ADMISSION_ANNOTATION } from '../../shared/api/names.ts';
import { isJsonObject, parseJson } from './json-value.ts';

/**
 * What the manager has decided about a Job, kept on the Job itself as one JSON annotation. Admission is its only writer; dispatch
 * and everyone else read it. Together with `spec.suspend` it says all there is to say:
 *
 * - no record: never admitted;
 * - record and not suspended: admitted to `cluster`, and its quota is in use;
 * - record and suspended: evicted, with a copy perhaps still on `cluster`. The record stays, because the copy must be found and
 *   resumed or deleted; its quota is free once the Job's status says that nothing runs any more.
 */
export type AdmissionRecord = {
  /** ClusterQueue whose quota the Job uses. */
  readonly clusterQueue: string;
  /** ResourceFlavor from which each resource is taken, e.g. `{ cpu: 'on-demand' }`. */
  readonly flavors: Readonly<Record<string, string>>;
  /** WorkerCluster that runs the Job. */
  readonly cluster: string;
  /** Number of this placement, from 1. It rises when the Job moves to another cluster, and stays when it resumes where it was. */
  readonly epoch: number;
  /** When the Job was last admitted, RFC 3339. */
  readonly since: string;
};

export type ParsedRecord =
  | { readonly kind: 'None' }
  | { readonly kind: 'Record'; readonly record: AdmissionRecord }
  /** Somebody else wrote the annotation. `problem` says what is wrong with it. */
  | { readonly kind: 'Invalid'; readonly problem: string };

/** The admission record of a Job. */
export function admissionRecordOf(job: DeepReadonly<Pick<Job, 'metadata'>>): ParsedRecord {
  const text = job.metadata.annotations?.[ADMISSION_ANNOTATION];
  return text === undefined ? { kind: 'None' } : parseAdmissionRecord(text);
}

export function parseAdmissionRecord(text: string): ParsedRecord {
  const value = parseJson(text);
  if (!isJsonObject(value)) return invalid('it is not a JSON object');
  const { clusterQueue, flavors, cluster, epoch, since } = value;
  if (!isName(clusterQueue)) return invalid('clusterQueue must be a non-empty string');
  if (!isJsonObject(flavors)) return invalid('flavors must be an object');
  const named: Record<string, string> = {};
  for (const [resource, flavor] of Object.entries(flavors)) {
    if (!isName(flavor)) return invalid(`flavors.${resource} must be a non-empty string`);
    named[resource] = flavor;
  }
  if (!isName(cluster)) return invalid('cluster must be a non-empty string');
  if (typeof epoch !== 'number' || !Number.isSafeInteger(epoch) || epoch < 1) return invalid('epoch must be a positive integer');
  if (typeof since !== 'string' || Number.isNaN(Date.parse(since))) return invalid('since must be an RFC 3339 time');
  return { kind: 'Record', record: { clusterQueue, flavors: named, cluster, epoch, since } };
}

/** The text of the annotation: always the same for the same record. */
export function formatAdmissionRecord(record: AdmissionRecord): string {
  const flavors = Object.fromEntries(Object.entries(record.flavors).toSorted(([a], [b]) => (a < b ? -1 : 1)));
  return JSON.stringify({
    clusterQueue: record.clusterQueue,
    flavors,
    cluster: record.cluster,
    epoch: record.epoch,
    since: record.since,
  });
}

/** The record of a Job that is admitted now: recorded, not suspended. Undefined for every other Job. */
export function activeAdmission(job: DeepReadonly<Job>): AdmissionRecord | undefined {
  const parsed = admissionRecordOf(job);
  return parsed.kind === 'Record' && job.spec.suspend !== true ? parsed.record : undefined;
}

const invalid = (problem: string): ParsedRecord => ({ kind: 'Invalid', problem: `annotation ${ADMISSION_ANNOTATION}: ${problem}` });
const isName = (value: unknown): value is string => typeof value === 'string' && value !== '';
