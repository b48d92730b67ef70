import type { V1CronJobSpec, V1CronJobStatus } from '@kubernetes/client-node';
import type { Wire } from '../../api/kubernetes.ts';
import { invalid, notSupported, required, type FieldError } from '../apimachinery/field-error.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import type { ResourceStrategy } from '../resources/strategy.ts';
import { ageOf } from './age.ts';
import { validateChoice } from './choice-validation.ts';
import { CronScheduleError, parseCronSchedule } from './cron-schedule.ts';
import type { Decoded } from './decoded.ts';
import { bumpGeneration } from './generation.ts';
import { validateJobSpecWithoutSelector } from './job-validation.ts';
import { subdomainName, validateObjectMeta, validateObjectMetaUpdate } from '../apimachinery/object-meta-validation.ts';
import { validateNonNegative } from './number-validation.ts';
import { applyPodSpecDefaults } from './pod-defaults.ts';
import { formatSelector } from './label-selector-format.ts';
import { AGE_COLUMN, NAME_COLUMN, column } from './table-columns.ts';
import { uncheckedStatus } from './unchecked-status.ts';
import { findTimeZone } from './time-zone.ts';

type DecodedCronJob = AnyObject & {
  spec?: Decoded<Wire<V1CronJobSpec>> | undefined;
  status?: Decoded<Wire<V1CronJobStatus>> | undefined;
};
/** The registry hands this strategy decoded CronJobs only. */
const asCronJob = (object: AnyObject): DecodedCronJob => object as DecodedCronJob;

/** The name of a Job is that of its CronJob and eleven characters more. */
const NAME_MAX = 52;

/** batch/v1 CronJob. The controller of that name makes Jobs of it, where it runs. */
export const cronJobStrategy: ResourceStrategy = {
  applyDefaults: (object) => {
    const cronJob = asCronJob(object);
    const spec = (cronJob.spec ??= {});
    spec.concurrencyPolicy ||= 'Allow';
    spec.suspend ??= false;
    spec.successfulJobsHistoryLimit ??= 3;
    spec.failedJobsHistoryLimit ??= 1;
    const template = ((spec.jobTemplate ??= {}).spec ??= {});
    // Of the Job only the pod template has defaults yet: the rest are set when a Job is made from it.
    template.template ??= {};
    template.template.metadata ??= {};
    template.template.spec ??= {};
    applyPodSpecDefaults(template.template.spec);
  },
  prepareForCreate: (object) => {
    object.metadata.generation = 1;
    object['status'] = {};
  },
  validateCreate: (object) => {
    const { metadata } = object;
    const errors = validateCronJob(asCronJob(object));
    if (metadata.name.length > NAME_MAX) {
      errors.push(invalid('metadata.name', metadata.name, `must be no more than ${NAME_MAX} characters`));
    }
    return errors;
  },
  prepareForUpdate: bumpGeneration,
  validateUpdate: (next, previous) => [
    ...validateObjectMetaUpdate(next.metadata, previous.metadata),
    ...validateSpec(asCronJob(next), asCronJob(previous)),
  ],
  status: uncheckedStatus,
  table: {
    columns: [
      NAME_COLUMN,
      column('Schedule', 'The schedule in Cron format, see https://en.wikipedia.org/wiki/Cron.'),
      column('Timezone', 'The time zone name for the given schedule, see https://en.wikipedia.org/wiki/List_of_tz_database_time_zones.'),
      column('Suspend', 'This flag tells the controller to suspend subsequent executions.', { type: 'boolean' }),
      column('Active', 'A list of pointers to currently running jobs.', { type: 'integer' }),
      column('Last Schedule', 'Information when was the last time the job was successfully scheduled.'),
      AGE_COLUMN,
      column('Containers', 'Names of each container in the template.', { wide: true }),
      column('Images', 'Images referenced by each container in the template.', { wide: true }),
      column('Selector', 'Label selector for pods.', { wide: true }),
    ],
    cells: (object, now) => {
      const { metadata, spec = {}, status = {} } = asCronJob(object);
      const { template, selector } = spec.jobTemplate?.spec ?? {};
      const containers = template?.spec?.containers ?? [];
      return [
        metadata.name,
        spec.schedule ?? '',
        spec.timeZone ?? '<none>',
        spec.suspend === true ? 'True' : 'False',
        (status.active ?? []).length,
        status.lastScheduleTime === undefined ? '<none>' : ageOf(status.lastScheduleTime, now),
        ageOf(metadata.creationTimestamp, now),
        containers.map(({ name }) => name ?? '').join(','),
        containers.map(({ image }) => image ?? '').join(','),
        formatSelector(selector ?? undefined),
      ];
    },
  },
};

const validateCronJob = (cronJob: DecodedCronJob): FieldError[] => [
  ...validateObjectMeta(cronJob.metadata, true, subdomainName),
  ...validateSpec(cronJob),
];

const validateSpec = ({ spec = {} }: DecodedCronJob, previous?: DecodedCronJob): FieldError[] => {
  const template = spec.jobTemplate?.spec ?? {};
  const zoneIsKept = previous !== undefined && previous.spec?.timeZone === spec.timeZone;
  return [
    ...validateSchedule(spec.schedule ?? ''),
    ...validateNonNegative(spec.startingDeadlineSeconds, 'spec.startingDeadlineSeconds'),
    ...(spec.timeZone === undefined || zoneIsKept ? [] : validateTimeZone(spec.timeZone, 'spec.timeZone')),
    ...validateChoice(spec.concurrencyPolicy ?? '', 'spec.concurrencyPolicy', ['Allow', 'Forbid', 'Replace']),
    ...validateJobSpecWithoutSelector(template, 'spec.jobTemplate.spec'),
    ...(template.selector === undefined
      ? []
      : [invalid('spec.jobTemplate.spec.selector', template.selector, '`selector` will be auto-generated')]),
    ...(template.manualSelector === true ? [notSupported('spec.jobTemplate.spec.manualSelector', true, ['nil', 'false'])] : []),
    ...validateNonNegative(spec.successfulJobsHistoryLimit, 'spec.successfulJobsHistoryLimit'),
    ...validateNonNegative(spec.failedJobsHistoryLimit, 'spec.failedJobsHistoryLimit'),
  ];
};

const validateSchedule = (schedule: string): FieldError[] => {
  const field = 'spec.schedule';
  if (schedule === '') return [required(field)];
  // A zone before the fields is understood, so that refusing it is the only complaint.
  const [, zone, rest = schedule] = /^(?:CRON_)?TZ=([^ ]*) +(.*)$/s.exec(schedule) ?? [];
  const errors: FieldError[] = [];
  if (zone !== undefined && findTimeZone(zone) === undefined) {
    errors.push(invalid(field, schedule, `provided bad location ${zone}: unknown time zone ${zone}`));
  } else {
    const problem = problemOf(rest);
    if (problem !== undefined) errors.push(invalid(field, schedule, problem));
  }
  if (schedule.includes('TZ')) {
    errors.push(invalid(field, schedule, 'cannot use TZ or CRON_TZ in schedule, use timeZone field instead'));
  }
  return errors;
};

function problemOf(schedule: string): string | undefined {
  try {
    parseCronSchedule(schedule);
    return undefined;
  } catch (error) {
    if (error instanceof CronScheduleError) return error.message;
    throw error;
  }
}

/** A file name of the IANA database (its theory.html), digits and plus signs tolerated as old names have them. */
const ZONE_PART = /^[A-Za-z.\-_0-9+]{1,14}$/;

const validateTimeZone = (name: string, field: string): FieldError[] => {
  if (name === '') return [invalid(field, name, 'timeZone must be nil or non-empty string')];
  const isPart = (part: string): boolean => part !== '.' && part !== '..' && !part.startsWith('-') && ZONE_PART.test(part);
  if (!name.split('/').every(isPart)) return [invalid(field, name, `unknown time zone ${name}`)];
  const errors: FieldError[] = [];
  if (name.toLowerCase() === 'local') {
    errors.push(invalid(field, name, 'timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones'));
  }
  if (name !== 'Local' && findTimeZone(name) === undefined) errors.push(invalid(field, name, `unknown time zone ${name}`));
  return errors;
};
