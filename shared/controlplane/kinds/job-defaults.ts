import { asJob, type DecodedJob, type DecodedJobSpec } from './decoded.ts';
import { applyPodSpecDefaults } from './pod-defaults.ts';
import type { AnyObject } from '../apimachinery/object.ts';

/** `backoffLimit` when every index has a limit of its own: the largest int32, so that it never decides. */
const NO_BACKOFF_LIMIT = 2 ** 31 - 1;

/** SetObjectDefaults_Job of batch/v1. Runs on every decoded body, so also after patches. */
export const applyJobDefaults = (object: AnyObject): void => {
  const job = asJob(object);
  job.spec ??= {};
  applyJobSpecDefaults(job.spec);
  copyTemplateLabels(job);
};

const applyJobSpecDefaults = (spec: DecodedJobSpec): void => {
  // Neither given means one run; completions alone is never defaulted, so that a work queue stays one.
  if (spec.completions === undefined && spec.parallelism === undefined) spec.completions = 1;
  spec.parallelism ??= 1;
  spec.completionMode ??= 'NonIndexed';
  spec.suspend ??= false;
  spec.manualSelector ??= false;
  spec.backoffLimit ??= spec.backoffLimitPerIndex === undefined ? 6 : NO_BACKOFF_LIMIT;
  spec.podReplacementPolicy ??= spec.podFailurePolicy === undefined ? 'TerminatingOrFailed' : 'Failed';
  for (const rule of spec.podFailurePolicy?.rules ?? []) {
    for (const pattern of rule.onPodConditions ?? []) {
      if (pattern.status === undefined || pattern.status === '') pattern.status = 'True';
    }
  }
  spec.template ??= {};
  spec.template.metadata ??= {};
  spec.template.spec ??= {};
  applyPodSpecDefaults(spec.template.spec);
};

/** A Job without labels has those of its template. */
export const copyTemplateLabels = (job: DecodedJob): void => {
  const own = job.metadata.labels;
  const ofTemplate = job.spec?.template?.metadata?.labels;
  if (ofTemplate === undefined || (own !== undefined && Object.keys(own).length > 0)) return;
  job.metadata.labels = { ...ofTemplate };
};
