import type { DeepReadonly, Job } from '../../shared/api/kubernetes.ts';
import { MANAGER_CONTROLLER_NAME, ORIGIN_LABEL, QUEUE_NAME_LABEL } from '../../shared/api/names.ts';
import type { FieldProblem } from '../api/field-problem.ts';
import { type DescribedFields, listed, quoted } from './cel-variables.ts';
import { hasOrigin, type WriteView } from './job-write.ts';

/** What refusals call an object, and where it keeps the fields that rules are about. */
export type KindWords = {
  /** Such as `JobSet`. */
  readonly kind: string;
  /** The path of the field that suspends it. */
  readonly suspend: string;
  /** The field that names who runs it, and its value where that is this manager; undefined: there is none. */
  readonly managedBy: { readonly path: string; readonly home: string } | undefined;
  /** The field that says how many pods it may have at once, or that has all that do. */
  readonly pods: string;
};

export const JOB_WORDS = {
  kind: 'Job',
  suspend: 'spec.suspend',
  managedBy: { path: 'spec.managedBy', home: MANAGER_CONTROLLER_NAME },
  pods: 'spec.parallelism',
} as const satisfies KindWords;

/** Of objects of any kind. Rules that are the same for all of them name no field that a kind has elsewhere. */
export const ANY_WORDS: KindWords = { ...JOB_WORDS, kind: 'object' };

/** The words of a kind: `fields` are undefined where it keeps them where a Job does. */
export const wordsOf = ({ resource: { kind }, fields }: DescribedWords): KindWords =>
  fields === undefined ? { ...JOB_WORDS, kind } : { kind, suspend: fields.suspend, managedBy: fields.managedBy, pods: 'spec' };

/** The field that names who runs an object, and the value for this manager: a Job's where the kind has none. */
export const controllerWords = ({ managedBy = JOB_WORDS.managedBy }: KindWords): { readonly path: string; readonly home: string } =>
  managedBy;
type DescribedWords = { readonly resource: { readonly kind: string }; readonly fields: DescribedFields | undefined };

/** What a rule says of a write that breaks it. */
export type RuleInWords = {
  readonly field: (words: KindWords) => string;
  /** The message with the remedy. The webhook may give more detail. */
  readonly problem: (words: KindWords) => string;
  /** CEL: true for writes that break the rule. */
  readonly brokenWhen: string;
};

/**
 * A rule that forbids one kind of write, in two forms: a function for the webhook, and CEL for API servers. A test compares the two.
 * Neither applies to writes of the manager.
 */
export type WriteRule = RuleInWords & {
  /** A message with details of this write, in place of `problem`. */
  readonly detail?: (write: WriteView, words: KindWords) => string;
  readonly isBroken: (write: WriteView) => boolean;
  /** The policy of the rule: what happens when an expression cannot be evaluated. */
  readonly policy: 'Fail' | 'Ignore';
};

/** What the rules that a write breaks say of it. */
export const problemsOf = (rules: readonly WriteRule[], words: KindWords, write: WriteView): FieldProblem[] =>
  rules
    .filter((rule) => rule.isBroken(write))
    .map(({ field, problem, detail }) => ({
      field: field(words),
      problem: detail === undefined ? problem(words) : detail(write, words),
    }));

export type Place = 'labels' | 'annotations' | 'finalizers';

/** A label, annotation or finalizer that users must not add, change or remove. */
export const reservedName = (place: Place, name: string): WriteRule => ({
  field: () => fieldOf(place, name),
  problem: ({ kind }) => `is written by Switchyard only; leave it as it is, and out of a new ${kind}`,
  isBroken: ({ job, oldJob }) => textOf(job, place, name) !== textOf(oldJob, place, name),
  brokenWhen: changedWhen(place, quoted(name)),
  policy: 'Fail',
});

/** The same, except in new Jobs of submissions. */
export const ofSubmissions = (place: Place, name: string): WriteRule =>
  butFor(
    reservedName(place, name),
    ({ writer, oldJob }) => writer === 'Submission' && oldJob === undefined,
    'oldObject == null && variables.bySubmission',
  );

/** The same, except for the worker on this cluster that looks after copies: to the API server it is an ordinary user. */
export const ofCopies = (place: Place, name: string): WriteRule =>
  butFor(
    reservedName(place, name),
    ({ writer, oldJob }) => writer === 'LocalWorker' && oldJob !== undefined && hasOrigin(oldJob),
    `${quoted(ORIGIN_LABEL)} in variables.oldLabels && variables.byLocalWorker`,
  );

/** The rule with an exception for some writes, in both forms. */
export const butFor = (rule: WriteRule, isLet: (write: WriteView) => boolean, letWhen: string): WriteRule => ({
  ...rule,
  isBroken: (write) => !isLet(write) && rule.isBroken(write),
  brokenWhen: `!(${letWhen}) && (${rule.brokenWhen})`,
});

/** Whether a Job, stored or not, has a label, annotation or finalizer of this name. */
export const hasName = (job: Named, place: Place, name: string): boolean => textOf(job, place, name) !== undefined;

export const fieldOf = (place: Place, name: string): string => `metadata.${place}[${name}]`;
export const queueField = (): string => fieldOf('labels', QUEUE_NAME_LABEL);

/** CEL: true where a label, annotation or finalizer is added, changed or removed. `key` is an expression. */
function changedWhen(place: Place, key: string): string {
  const [now, before] = NAMES_OF[place];
  const appears = `(${key} in ${now}) != (${key} in ${before})`;
  return place === 'finalizers' ? appears : `${appears} || ${key} in ${now} && ${now}[${key}] != ${before}[${key}]`;
}

/** CEL: the same for any of several names. */
export const anyChangedWhen = (place: Place, names: readonly string[]): string =>
  `${listed(names)}.exists(name, ${changedWhen(place, 'name')})`;

const NAMES_OF = {
  labels: ['variables.labels', 'variables.oldLabels'],
  annotations: ['variables.annotations', 'variables.oldAnnotations'],
  finalizers: ['variables.finalizers', 'variables.oldFinalizers'],
} as const satisfies Record<Place, readonly [string, string]>;

type Named = DeepReadonly<{ metadata: Pick<Partial<Job['metadata']>, Place> }>;

/** The value of a label or annotation, or the name of a finalizer; undefined where the Job has none. */
export function textOf(job: Named | undefined, place: Place, name: string): string | undefined {
  if (place === 'finalizers') {
    // A submitted manifest may have any value there.
    const finalizers: unknown = job?.metadata.finalizers;
    return Array.isArray(finalizers) && finalizers.includes(name) ? name : undefined;
  }
  const map = job?.metadata[place];
  return map !== undefined && map !== null && Object.hasOwn(map, name) ? map[name] : undefined;
}
