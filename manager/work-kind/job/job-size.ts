import type { DeepReadonly, Job, Unsaved } from '../../../shared/api/kubernetes.ts';
import { essentialsOf } from './compact-job.ts';
import type { FieldProblem } from '../../api/field-problem.ts';

/** Bound of the fields that the cache keeps of a waiting Job: without it a few large Jobs could fill the memory that all share. */
export const ESSENTIALS_BYTES_MAX = 16 * 1024;

/** Why a Job is too large; `bytesMax` is the value of `--max-job-bytes`. Empty when it is not. */
export function sizeProblems(job: DeepReadonly<Unsaved<Job>>, bytesMax: number): FieldProblem[] {
  const bytes = jobBytes(job);
  if (bytes > bytesMax) {
    const remedy = 'move scripts and data into a ConfigMap or an image, or ask an administrator to raise --max-job-bytes';
    return [{ field: 'job', problem: `has ${bytes} bytes as JSON, and at most ${bytesMax} are taken; ${remedy}` }];
  }
  // A Job below the bound has essentials below it, too.
  const essentials = bytes > ESSENTIALS_BYTES_MAX ? byteLengthOf(essentialsOf(job)) : 0;
  if (essentials <= ESSENTIALS_BYTES_MAX) return [];
  const what = 'resources, claims, nodeSelector, affinity and tolerations of the pod template, and annotations of Switchyard';
  return [
    {
      field: 'job',
      problem: `says ${essentials} bytes about where it may run, and at most ${ESSENTIALS_BYTES_MAX} are taken (${what}); say less`,
    },
  ];
}

/** Bytes of the JSON, without what API servers add: managedFields and the status. */
export function jobBytes({ status: _status, ...job }: DeepReadonly<Unsaved<Job>>): number {
  const { managedFields: _managedFields, ...metadata } = job.metadata;
  return byteLengthOf({ ...job, metadata });
}

const byteLengthOf = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
