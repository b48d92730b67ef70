import type { PodTemplateSpec } from '../../../shared/api/kubernetes.ts';
import type { Resource } from '../../../shared/api/resources.ts';
import type { WorkObject } from '../../../shared/api/kubernetes.ts';
import type { FieldProblem } from '../../api/field-problem.ts';
import { isJsonObject } from '../../api/json-value.ts';
import type { DescribedPodSet, WorkKindSpec } from '../../api/work-kind.ts';
import {
  boolean,
  count,
  ENTRY_ENVIRONMENT,
  type Expression,
  ExpressionProblem,
  OBJECT_ENVIRONMENT,
  POD_SET_ENVIRONMENT,
  string,
} from './expression.ts';
import { type FieldPath, parsePath } from '../../../shared/api/field-path.ts';

/** A description of a kind, compiled: its paths are read, and each of its expressions is checked and ready. */
export type Description = {
  /** What was compiled. */
  readonly spec: WorkKindSpec;
  readonly resource: Resource<WorkObject>;
  readonly suspend: FieldPath;
  readonly managedBy: ManagedBy | undefined;
  readonly podSets: readonly PodSetDescription[];
  readonly validations: readonly { readonly rule: Expression<boolean>; readonly field: string; readonly message: string }[];
  readonly state: StateDescription;
  readonly status: {
    readonly hasConditions: boolean;
    /** undefined: all. */
    readonly fields: ReadonlySet<string> | undefined;
    readonly minor: ReadonlySet<string>;
  };
  readonly mutable: readonly FieldPath[];
  readonly withoutFields: readonly FieldPath[];
  readonly isLabelLeftOut: (name: string) => boolean;
  readonly isAnnotationLeftOut: (name: string) => boolean;
  readonly podLabels: readonly (readonly [string, Expression<string>])[];
  readonly deadlineSeconds: Expression<number | 'absent'> | undefined;
  readonly ttlSeconds: Expression<number | 'absent'> | undefined;
};

export type ManagedBy = {
  readonly path: FieldPath;
  readonly home: string;
  readonly copies: string | undefined;
  readonly operator: readonly string[];
};

export type PodSetDescription = {
  readonly field: string;
  readonly name: string;
  readonly items: string | undefined;
  readonly nameExpression: Expression<string> | undefined;
  readonly when: Expression<boolean> | undefined;
  readonly count: Expression<number | 'absent'> | undefined;
  readonly template: FieldPath | undefined;
  readonly templatePath: Expression<string> | undefined;
  readonly resources: FieldPath | undefined;
  readonly defaultTemplate: PodTemplateSpec | undefined;
  readonly countPath: FieldPath | undefined;
  readonly minCount: Expression<number | 'absent'> | undefined;
  readonly finished: Expression<number | 'absent'> | undefined;
};

export type StateDescription = {
  readonly started: Expression<boolean>;
  readonly ready: Expression<boolean>;
  readonly atRest: Expression<boolean>;
  readonly complete: Expression<boolean>;
  readonly failed: Expression<boolean>;
  readonly reason: Expression<string> | undefined;
  readonly message: Expression<string> | undefined;
  readonly startTime: Expression<string> | undefined;
  readonly completionTime: Expression<string> | undefined;
  readonly suspendedCondition: string | undefined;
};

export type CompiledDescription =
  | { readonly kind: 'Description'; readonly description: Description }
  | { readonly kind: 'Refused'; readonly problems: readonly FieldProblem[] };

/** Compiles a description that its definition lets in. All that does not compile is found, not the first of it alone. */
export function compileDescription(spec: WorkKindSpec): CompiledDescription {
  const problems: FieldProblem[] = [];
  const reader = readerInto(problems);
  const { group, version, resource: plural, kind, copies, status, state } = spec;
  const description: Description = {
    spec,
    resource: { group, version, plural, kind, namespaced: true },
    suspend: reader.path('spec.suspend', spec.suspend),
    managedBy: spec.managedBy && {
      path: reader.path('spec.managedBy.path', spec.managedBy.path),
      home: spec.managedBy.home,
      copies: spec.managedBy.copies,
      operator: spec.managedBy.operator ?? [],
    },
    podSets: spec.podSets.map((podSet, index) => podSetOf(reader, podSet, `spec.podSets[${index}]`)),
    validations: (spec.validations ?? []).map(({ expression, message, field = 'spec' }, index) => ({
      rule: reader.required(boolean, `spec.validations[${index}].expression`, expression),
      field,
      message,
    })),
    state: stateOf(reader, state),
    status: {
      hasConditions: status?.conditions ?? true,
      fields: status?.fields && new Set(status.fields),
      minor: new Set(status?.minor),
    },
    mutable: reader.paths('spec.copies.mutable', copies?.mutable),
    withoutFields: reader.paths('spec.copies.withoutFields', copies?.withoutFields),
    isLabelLeftOut: namedBy(copies?.withoutLabels ?? []),
    isAnnotationLeftOut: namedBy(copies?.withoutAnnotations ?? []),
    podLabels: Object.entries(spec.podLabels ?? {}).map(([label, text]) => [
      label,
      reader.required(string, `spec.podLabels[${label}]`, text),
    ]),
    deadlineSeconds: reader.optional(count, 'spec.deadlineSeconds', spec.deadlineSeconds),
    ttlSeconds: reader.optional(count, 'spec.ttlSeconds', spec.ttlSeconds),
  };
  return problems.length === 0 ? { kind: 'Description', description } : { kind: 'Refused', problems };
}

type Reader = ReturnType<typeof readerInto>;
type Compile<T> = (environment: typeof OBJECT_ENVIRONMENT, field: string, text: string) => Expression<T>;

/** Reads the parts of a description, and notes what is wrong with them; what cannot be read is never used. */
function readerInto(problems: FieldProblem[]) {
  const required = <T>(compile: Compile<T>, field: string, text: string, environment = OBJECT_ENVIRONMENT): Expression<T> => {
    try {
      return compile(environment, field, text);
    } catch (error) {
      if (!(error instanceof ExpressionProblem)) throw error;
      problems.push(error.problem);
      return compile(environment, field, 'dyn(null)');
    }
  };
  const path = (field: string, text: string): FieldPath => {
    const steps = parsePath(text);
    if (steps !== undefined) return steps;
    problems.push({
      field,
      problem: `is ${JSON.stringify(text)}, which is no path of a field; write names with dots, such as spec.suspend`,
    });
    return [];
  };
  return {
    problem: (field: string, problem: string): unknown => problems.push({ field, problem }),
    required,
    optional: <T>(
      compile: Compile<T>,
      field: string,
      text: string | undefined,
      environment = OBJECT_ENVIRONMENT,
    ): Expression<T> | undefined => (text === undefined ? undefined : required(compile, field, text, environment)),
    path,
    paths: (field: string, texts: readonly string[] = []): FieldPath[] => texts.map((text, index) => path(`${field}[${index}]`, text)),
    optionalPath: (field: string, text: string | undefined): FieldPath | undefined => (text === undefined ? undefined : path(field, text)),
  };
}

function podSetOf(reader: Reader, podSet: DescribedPodSet, field: string): PodSetDescription {
  const { items, minCount: least, countPath } = podSet;
  if (least !== undefined && countPath === undefined)
    reader.problem(`${field}.minCount`, 'needs countPath, the path of the field that a smaller count is written to; add it');
  if (countPath !== undefined && items === undefined && !countPath.startsWith('spec.'))
    reader.problem(`${field}.countPath`, `is ${JSON.stringify(countPath)}, and nothing but the spec is written; begin with spec`);
  return compiledPodSet(reader, podSet, field);
}

const compiledPodSet = (reader: Reader, podSet: DescribedPodSet, field: string): PodSetDescription => ({
  field,
  name: podSet.name ?? '',
  items: podSet.items,
  nameExpression: reader.optional(string, `${field}.nameExpression`, podSet.nameExpression, POD_SET_ENVIRONMENT),
  when: reader.optional(boolean, `${field}.when`, podSet.when, POD_SET_ENVIRONMENT),
  count: reader.optional(count, `${field}.count`, podSet.count, POD_SET_ENVIRONMENT),
  template: reader.optionalPath(`${field}.template`, podSet.template),
  templatePath: reader.optional(string, `${field}.templatePath`, podSet.templatePath, ENTRY_ENVIRONMENT),
  resources: reader.optionalPath(`${field}.resources`, podSet.resources),
  defaultTemplate: isJsonObject(podSet.defaultTemplate) ? (podSet.defaultTemplate as PodTemplateSpec) : undefined,
  countPath: reader.optionalPath(`${field}.countPath`, podSet.countPath),
  minCount: reader.optional(count, `${field}.minCount`, podSet.minCount, POD_SET_ENVIRONMENT),
  finished: reader.optional(count, `${field}.finished`, podSet.finished, POD_SET_ENVIRONMENT),
});

const stateOf = (reader: Reader, state: WorkKindSpec['state']): StateDescription => ({
  started: reader.required(boolean, 'spec.state.started', state.started),
  ready: reader.required(boolean, 'spec.state.ready', state.ready),
  atRest: reader.required(boolean, 'spec.state.atRest', state.atRest),
  complete: reader.required(boolean, 'spec.state.complete', state.complete),
  failed: reader.required(boolean, 'spec.state.failed', state.failed),
  reason: reader.optional(string, 'spec.state.reason', state.reason),
  message: reader.optional(string, 'spec.state.message', state.message),
  startTime: reader.optional(string, 'spec.state.startTime', state.startTime),
  completionTime: reader.optional(string, 'spec.state.completionTime', state.completionTime),
  suspendedCondition: state.suspendedCondition,
});

/** By the name itself, or by a prefix with a star. */
const namedBy =
  (keys: readonly string[]): ((name: string) => boolean) =>
  (name) =>
    keys.some((key) => (key.endsWith('/*') ? name.startsWith(key.slice(0, -1)) : key === name));
