import { CONTROLLER_UID_LABEL, JOB_NAME_LABEL, LEGACY_CONTROLLER_UID_LABEL, LEGACY_JOB_NAME_LABEL } from '../../api/names.ts';
import type { ResourceStrategy } from '../resources/strategy.ts';
import { asJob, type DecodedJob, type DecodedJobSpec } from './decoded.ts';
import { applyJobDefaults, copyTemplateLabels } from './job-defaults.ts';
import { validateJobStatusUpdate } from './job-status-validation.ts';
import { jobTable } from './job-table.ts';
import { validateJobUpdate } from './job-update-validation.ts';
import { validateJob } from './job-validation.ts';
import { jobWarnings } from './job-warnings.ts';
import { semanticEqual } from '../apimachinery/semantic-equal.ts';

/** batch/v1 Job: pkg/registry/batch/job of the API server. */
export const jobStrategy: ResourceStrategy = {
  applyDefaults: applyJobDefaults,
  prepareForCreate: (object) => {
    const job = asJob(object);
    job.status = {};
    job.metadata.generation = 1;
    if (job.spec?.manualSelector !== true) generateSelector(job);
  },
  validateCreate: (object) => validateJob(asJob(object), { requirePrefixedLabels: true }),
  warningsOnCreate: (object) => jobWarnings(asJob(object), 'create'),
  prepareForStorage: (object) => copyTemplateLabels(asJob(object)),
  prepareForUpdate: (object, stored) => {
    const next = asJob(object);
    const previous = asJob(stored);
    next.status = previous.status;
    const generation = previous.metadata.generation ?? 0;
    next.metadata.generation = semanticEqual(next.spec, previous.spec) ? generation : generation + 1;
  },
  validateUpdate: (object, stored) => {
    const next = asJob(object);
    const previous = asJob(stored);
    return [...validateJob(next, { requirePrefixedLabels: hasPrefixedLabels(previous.spec) }), ...validateJobUpdate(next, previous)];
  },
  warningsOnUpdate: (object, stored) =>
    object.metadata.generation === stored.metadata.generation ? [] : jobWarnings(asJob(object), 'update'),
  status: {
    prepareForUpdate: (object, stored) => {
      object['spec'] = stored['spec'];
      const { generation } = stored.metadata;
      if (generation !== undefined) object.metadata.generation = generation;
    },
    validateUpdate: (object, stored) => validateJobStatusUpdate(asJob(object), asJob(stored)),
  },
  // From the time before garbage collection: batch/v1 alone still orphans by default.
  defaultPropagation: 'orphan',
  warningOnImplicitOrphan:
    'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
  selectableFields: (object) => ({ 'status.successful': String(asJob(object).status?.succeeded ?? 0) }),
  unsupportedField: (field) => `field label ${JSON.stringify(field)} not supported for Job`,
  table: jobTable,
};

/** Marks the template and the selector with the Job's UID, so that no two Jobs claim each other's pods. */
const generateSelector = ({ metadata, spec }: DecodedJob): void => {
  if (spec === undefined) return;
  spec.template ??= {};
  spec.template.metadata ??= {};
  spec.template.metadata.labels = {
    [LEGACY_JOB_NAME_LABEL]: metadata.name,
    [JOB_NAME_LABEL]: metadata.name,
    [LEGACY_CONTROLLER_UID_LABEL]: metadata.uid,
    [CONTROLLER_UID_LABEL]: metadata.uid,
    ...spec.template.metadata.labels,
  };
  spec.selector ??= {};
  spec.selector.matchLabels = { [CONTROLLER_UID_LABEL]: metadata.uid, ...spec.selector.matchLabels };
};

const hasPrefixedLabels = (spec: DecodedJobSpec | undefined): boolean => {
  const labels = spec?.template?.metadata?.labels ?? {};
  return JOB_NAME_LABEL in labels && CONTROLLER_UID_LABEL in labels;
};
