import type { JobSpec, JobStatus, PodCondition, PodSpec, PodStatus, PodTemplateSpec } from '../../api/kubernetes.ts';
import type { AnyObject } from '../apimachinery/object.ts';

/**
 * A value as decoding leaves it: every field that is there has its type (the schema has been checked), and any field may be absent,
 * whatever upstream's types call required. Maps keep their keys.
 */
export type Decoded<T> = T extends readonly (infer U)[]
  ? Decoded<U>[]
  : T extends object
    ? string extends keyof T
      ? T
      : { -readonly [K in keyof T]?: Decoded<T[K]> | undefined }
    : T;

export type DecodedPodSpec = Decoded<PodSpec>;
export type DecodedPodTemplate = Decoded<PodTemplateSpec>;
export type DecodedContainer = NonNullable<DecodedPodSpec['containers']>[number];
export type DecodedProbe = NonNullable<DecodedContainer['livenessProbe']>;
export type DecodedVolume = NonNullable<DecodedPodSpec['volumes']>[number];
export type DecodedJobSpec = Decoded<JobSpec>;
export type DecodedJobStatus = Decoded<JobStatus>;
/** What the server sets itself it has never probed, and says so with a null. */
export type DecodedPodCondition = Omit<Decoded<PodCondition>, 'lastProbeTime'> & { lastProbeTime?: string | null | undefined };
export type DecodedPodStatus = Omit<Decoded<PodStatus>, 'conditions'> & { conditions?: DecodedPodCondition[] | undefined };

export type DecodedJob = AnyObject & { spec?: DecodedJobSpec | undefined; status?: DecodedJobStatus | undefined };
export type DecodedPod = AnyObject & { spec?: DecodedPodSpec | undefined; status?: DecodedPodStatus | undefined };

/** The registry hands every strategy objects of its own kind, decoded by that kind's schema: the casts say so once. */
export const asJob = (object: AnyObject): DecodedJob => object as DecodedJob;
export const asPod = (object: AnyObject): DecodedPod => object as DecodedPod;
