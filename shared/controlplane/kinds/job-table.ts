import type { TablePrinter } from '../resources/strategy.ts';
import { ageOf, humanDuration } from './age.ts';
import { asJob, type DecodedJob } from './decoded.ts';
import { isConditionTrue } from './job-status-validation.ts';
import { formatSelector } from './label-selector-format.ts';
import { AGE_COLUMN, NAME_COLUMN, column } from './table-columns.ts';

/** How `kubectl get jobs` shows Jobs. */
export const jobTable: TablePrinter = {
  columns: [
    NAME_COLUMN,
    column('Status', 'Status of the job.'),
    column('Completions', 'The latest available observations of an object’s current state.'),
    column('Duration', 'Time required to complete the job.'),
    AGE_COLUMN,
    column('Containers', 'Names of each container in the template.', { wide: true }),
    column('Images', 'Images referenced by each container in the template.', { wide: true }),
    column('Selector', 'A label query over pods that should match the pod count.', { wide: true }),
  ],
  cells: (object, now) => {
    const job = asJob(object);
    const containers = job.spec?.template?.spec?.containers ?? [];
    return [
      job.metadata.name,
      statusOf(job),
      completionsOf(job),
      durationOf(job, now),
      ageOf(job.metadata.creationTimestamp, now),
      containers.map(({ name }) => name ?? '').join(','),
      containers.map(({ image }) => image ?? '').join(','),
      formatSelector(job.spec?.selector),
    ];
  },
};

const statusOf = ({ metadata, status }: DecodedJob): string => {
  const holds = (type: string): boolean => isConditionTrue(status?.conditions, type);
  if (holds('Complete')) return 'Complete';
  if (holds('Failed')) return 'Failed';
  if (metadata.deletionTimestamp !== undefined) return 'Terminating';
  return ['Suspended', 'FailureTarget', 'SuccessCriteriaMet'].find(holds) ?? 'Running';
};

/** A work queue is complete with its first success, so it counts against one. */
const completionsOf = ({ spec = {}, status = {} }: DecodedJob): string => {
  const succeeded = status.succeeded ?? 0;
  if (spec.completions !== undefined) return `${succeeded}/${spec.completions}`;
  const parallelism = spec.parallelism ?? 0;
  return parallelism > 1 ? `${succeeded}/1 of ${parallelism}` : `${succeeded}/1`;
};

const durationOf = ({ status }: DecodedJob, now: number): string => {
  if (status?.startTime === undefined) return '';
  const end = status.completionTime === undefined ? now : Date.parse(status.completionTime);
  return humanDuration(end - Date.parse(status.startTime));
};
