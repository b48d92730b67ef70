import { CostBudget } from '../../../shared/cel/cost-budget.ts';
import { toCelValue } from '../../../shared/cel/values.ts';
import type { DeepReadonly, ObjectKey, PodTemplateSpec, Unsaved, WorkObject } from '../../../shared/api/kubernetes.ts';
import { selectorText } from '../copy/selector-text.ts';
import type { FieldProblem } from '../../api/field-problem.ts';
import { isJsonObject } from '../../api/json-value.ts';
import type { PodSet } from '../pod-sets.ts';
import { parseQualifiedName } from '../qualified-name.ts';
import type { Description, PodSetDescription } from './description.ts';
import { evaluated, type Expression, valueOf } from './expression.ts';
import { ENTRIES_MAX, type Entry, entriesAt, type FieldPath, parsePath, pathText, valueAt } from '../../../shared/api/field-path.ts';
import { templateProblem } from './pod-shape.ts';
import { type ReadState, readState } from './read-state.ts';
import { visibleObject } from './visible-object.ts';

/** What a description says of one object. */
export type Reading = {
  readonly podSets: readonly ReadPodSet[];
  /** Where the pod templates are that can be written. */
  readonly templates: readonly FieldPath[];
  /** Why its pods cannot be known: the object waits. */
  readonly problems: readonly FieldProblem[];
  readonly state: ReadState;
  readonly podLabels: Readonly<Record<string, string>>;
  readonly deadlineSeconds: number | undefined;
  readonly ttlSeconds: number | undefined;
};

/** A pod set with what its description says beside the pods. */
export type ReadPodSet = PodSet & {
  /** undefined: the object has no template of it that could be written. */
  readonly templatePath: FieldPath | undefined;
  /** Its pods whose work is done. */
  readonly finished: number;
  readonly countPath: FieldPath | undefined;
};

/** What all expressions about one object may cost together. */
const BUDGET = 5_000_000;

export type Variables = Readonly<Record<string, unknown>>;

/** Evaluates the expressions of a description for an object. */
export function readObject(description: Description, object: DeepReadonly<Unsaved<WorkObject>>): Reading {
  const budget = new CostBudget(BUDGET);
  const places = description.podSets.map((podSet) => placesOf(podSet, object, budget));
  const templates = places.flatMap(({ found }) => found.flatMap(({ templatePath }) => (templatePath === undefined ? [] : [templatePath])));
  const variables = variablesOf(visibleObject(object, templates));
  const read = description.podSets.map((podSet, index) => podSetsAt(podSet, object, places[index]?.found ?? [], variables, budget));
  const podSets = read.flatMap(({ found }) => found);
  const problems: FieldProblem[] = [...places, ...read].flatMap((each) => [...each.problems]);
  const value = <T>(expression: Expression<T> | undefined): T | undefined => valueOf(expression, variables, budget, problems);
  for (const { rule, field, message } of description.validations) if (value(rule) === false) problems.push({ field, problem: message });
  problems.push(...sameNames(podSets), ...elasticProblems(podSets, object));
  const podLabels = podLabelsOf(description, variables, budget);
  const seconds = (expression: Expression<number | 'absent'> | undefined): number | undefined => {
    const found = value(expression);
    return found === 'absent' ? undefined : found;
  };
  const [deadlineSeconds, ttlSeconds] = [seconds(description.deadlineSeconds), seconds(description.ttlSeconds)];
  const state = readState(description, object, podSets, variables, budget);
  return { podSets, templates, problems: [...problems, ...state.problems], state, podLabels, deadlineSeconds, ttlSeconds };
}

/** The label selector of the pods of an object of which only the key is known; undefined: their labels are not known by that. */
export const podSelectorOf = (description: Description, { namespace, name }: ObjectKey): string | undefined =>
  selectorText(
    podLabelsOf(description, variablesOf(visibleObject({ metadata: { namespace, name }, spec: {} }, [])), new CostBudget(BUDGET)),
  );

function podLabelsOf({ podLabels }: Description, variables: Variables, budget: CostBudget): Record<string, string> {
  // An object that is to be named by its API server has no name yet.
  const labelOf = (text: Expression<string>): string => {
    const outcome = evaluated(text, variables, budget);
    return 'value' in outcome ? outcome.value : '';
  };
  return Object.fromEntries(podLabels.map(([label, text]) => [label, labelOf(text)]));
}

type Found<T> = { readonly found: readonly T[]; readonly problems: readonly FieldProblem[] };

/** An entry of a pod set, and where its pod template is. */
type Place = { readonly entry: Entry; readonly templatePath: FieldPath | undefined; readonly field: string };

function placesOf(podSet: PodSetDescription, object: DeepReadonly<Unsaved<WorkObject>>, budget: CostBudget): Found<Place> {
  const whole: Entry = { path: [], key: podSet.name, value: object, parentPath: [] };
  const entries = podSet.items === undefined ? [whole] : entriesAt(object, podSet.items);
  const problems: FieldProblem[] = [];
  if (entries.length >= ENTRIES_MAX)
    problems.push({ field: podSet.items ?? 'spec', problem: `has more than ${ENTRIES_MAX} pod sets; split the object` });
  const found = entries.flatMap((entry): Place[] => {
    const path = templatePathOf(podSet, entry, budget);
    if ('problem' in path) {
      problems.push(path.problem);
      return [];
    }
    const writable = podSet.resources === undefined && templateProblem(valueAt(object, path.value)) === undefined;
    return [{ entry, templatePath: writable ? path.value : undefined, field: pathText(path.value) }];
  });
  return { found, problems };
}

function templatePathOf(
  { template, resources, templatePath }: PodSetDescription,
  entry: Entry,
  budget: CostBudget,
): { readonly value: FieldPath } | { readonly problem: FieldProblem } {
  if (templatePath === undefined) return { value: [...entry.path, ...(template ?? resources ?? [])] };
  const outcome = evaluated(templatePath, entryVariables(entry), budget);
  if ('problem' in outcome) return outcome;
  const path = parsePath(outcome.value);
  // Nothing but the spec is written.
  if (path?.[0] === 'spec') return { value: path };
  const problem = `gives ${JSON.stringify(outcome.value)}, which is no path of a pod template in the spec, such as spec.components[0].template.spec.template`;
  return { problem: { field: templatePath.field, problem } };
}

const entryVariables = ({ value, key, path, parentPath }: Entry): Variables => ({
  item: toCelValue(value),
  key: toCelValue(key),
  path: pathText(path),
  parentPath: pathText(parentPath),
});

/** `conditions`: by type. `trueConditions`: the types of those that are true. */
export function variablesOf({ metadata: known, spec, status }: DeepReadonly<Unsaved<WorkObject>>): Variables {
  // Expressions see the name that the API server knows.
  const metadata = known.name === undefined ? known : { ...known, name: parseQualifiedName(known.name).name };
  const seen = toCelValue({ metadata, spec: spec ?? {}, ...(isJsonObject(status) ? { status } : {}) }) as Record<string, unknown>;
  const said = isJsonObject(seen['status']) ? seen['status'] : {};
  const conditions = Array.isArray(said['conditions']) ? said['conditions'].filter(isJsonObject) : [];
  const byType = conditions.flatMap((each) => (typeof each['type'] === 'string' ? [[each['type'], each] as const] : []));
  return {
    object: seen,
    spec: seen['spec'],
    status: said,
    conditions: Object.fromEntries(byType),
    trueConditions: byType.flatMap(([type, each]) => (each['status'] === 'True' ? [type] : [])),
  };
}

function podSetsAt(
  podSet: PodSetDescription,
  object: DeepReadonly<Unsaved<WorkObject>>,
  places: readonly Place[],
  variables: Variables,
  budget: CostBudget,
): Found<ReadPodSet> {
  const problems: FieldProblem[] = [];
  const found = places.flatMap(({ entry, templatePath, field }): ReadPodSet[] => {
    const here = { ...variables, ...entryVariables({ ...entry, value: podSet.items === undefined ? {} : valueIn(variables, entry.path) }) };
    const value = <T>(expression: Expression<T> | undefined): T | undefined => {
      if (expression === undefined) return undefined;
      const outcome = evaluated(expression, here, budget);
      if ('value' in outcome) return outcome.value;
      problems.push(placed(outcome.problem, entry));
      return undefined;
    };
    if (value(podSet.when) === false) return [];
    const number = (expression: Expression<number | 'absent'> | undefined, otherwise: number): number => {
      const result = value(expression);
      return typeof result === 'number' ? result : otherwise;
    };
    const { template, problem } = templateAt(podSet, object, { entry, templatePath, field });
    const name = nameOf(podSet, entry, value(podSet.nameExpression));
    if (template === undefined || !NAME.test(name)) {
      const unnamed = `gives the name ${JSON.stringify(name)}, which must be of at most 63 small letters, digits and hyphens`;
      problems.push(
        problem === undefined ? placed({ field: `${podSet.field}.nameExpression`, problem: unnamed }, entry) : { field, problem },
      );
      return [];
    }
    const count = number(podSet.count, 1);
    const least = value(podSet.minCount);
    const minCount = typeof least === 'number' ? Math.max(1, least) : undefined;
    return [
      {
        name,
        count,
        template,
        templatePath,
        field,
        finished: number(podSet.finished, 0),
        countPath: podSet.countPath && [...entry.path, ...podSet.countPath],
        ...(minCount === undefined ? {} : { minCount }),
      },
    ];
  });
  return { found, problems };
}

/** The entry as it is seen. Values of expressions are not JSON any more; lists and objects are what they were. */
const valueIn = ({ object }: Variables, path: FieldPath): unknown => valueAt(object, path);

const placed = ({ field, problem }: FieldProblem, { path }: Entry): FieldProblem => ({
  field,
  problem: path.length === 0 ? problem : `for ${pathText(path)}: ${problem}`,
});

const NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

function templateAt(
  { resources, defaultTemplate }: PodSetDescription,
  object: DeepReadonly<Unsaved<WorkObject>>,
  { entry, templatePath, field }: Place,
): { readonly template: PodTemplateSpec | undefined; readonly problem?: string } {
  if (resources !== undefined) {
    const template = templateWith(valueAt(object, [...entry.path, ...resources]));
    return templateProblem(template) === undefined
      ? { template }
      : { template: undefined, problem: 'is of a wrong type; write requests and limits' };
  }
  if (templatePath !== undefined) return { template: valueAt(object, templatePath) as PodTemplateSpec };
  const written = valueAt(object, parsePath(field) ?? []);
  if (defaultTemplate !== undefined && (written === undefined || written === null)) return { template: defaultTemplate };
  return { template: undefined, problem: templateProblem(written) ?? 'is missing' };
}

/** The pods of an object that names their resources and no template. */
const templateWith = (resources: unknown): PodTemplateSpec => ({
  spec: { containers: [{ name: 'main', ...(resources === undefined || resources === null ? {} : { resources }) }] },
});

function nameOf({ name, items, nameExpression }: PodSetDescription, { key }: Entry, said: string | undefined): string {
  if (items === undefined) return name;
  const own = nameExpression === undefined || said === undefined || said === '' ? String(key) : said;
  return (name === '' ? own : `${name}-${own}`).toLowerCase();
}

/** Flavors are chosen and noted by the names of pod sets. */
function sameNames(podSets: readonly ReadPodSet[]): FieldProblem[] {
  const names = podSets.map(({ name }) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  return twice === undefined
    ? []
    : [{ field: 'spec', problem: `has two pod sets of the name "${twice}"; give each entry a name of its own` }];
}

/** One pod set may be admitted with fewer pods, as in Kueue, and the field that they are written to must be their number. */
function elasticProblems(podSets: readonly ReadPodSet[], object: DeepReadonly<Unsaved<WorkObject>>): FieldProblem[] {
  const elastic = podSets.filter(({ count, minCount = count }) => minCount < count);
  const [first, second] = elastic;
  const many =
    first === undefined || second === undefined
      ? []
      : [{ field: fieldOf(second), problem: `may have fewer pods, as ${fieldOf(first)} may; of one object, one pod set can` }];
  const others = elastic.flatMap(({ countPath, count, ...podSet }) => {
    const written = valueAt(object, countPath ?? []);
    if (written === count) return [];
    const problem = `is ${JSON.stringify(written)}, where the pod set "${podSet.name}" has ${count} pods: fewer cannot be written to it`;
    return [{ field: pathText(countPath ?? []), problem }];
  });
  return [...many, ...others];
}

const fieldOf = ({ countPath, field = 'spec' }: ReadPodSet): string => (countPath === undefined ? field : pathText(countPath));
