import type { CostBudget } from '../../../shared/cel/cost-budget.ts';
import type { DeepReadonly, Unsaved, WorkObject } from '../../../shared/api/kubernetes.ts';
import type { FieldProblem } from '../../api/field-problem.ts';
import { isJsonObject } from '../../api/json-value.ts';
import { SwitchyardCondition } from '../../api/reasons.ts';
import { time } from '../copy/remote-conditions.ts';
import type { PodSet } from '../pod-sets.ts';
import type { Description } from './description.ts';
import { type Expression, valueOf } from './expression.ts';
import { valueAt } from '../../../shared/api/field-path.ts';

/** How far an object is. */
export type ReadState = {
  readonly suspended: boolean;
  readonly started: boolean;
  readonly ready: boolean;
  /** Its operator says that nothing of it runs. It counts only of a suspended object. */
  readonly atRest: boolean;
  readonly end: { readonly type: 'Complete' | 'Failed'; readonly reason: string; readonly message: string } | undefined;
  readonly startTime: string | undefined;
  readonly completionTime: string | undefined;
  /** All its pods, and those whose work is done. */
  readonly pods: number;
  readonly finished: number;
  readonly problems: readonly FieldProblem[];
};

const REASON = /^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;

/** A state whose expression fails is not reached. */
export function readState(
  { state, suspend }: Description,
  object: DeepReadonly<Unsaved<WorkObject>>,
  podSets: readonly (PodSet & { readonly finished: number })[],
  variables: Readonly<Record<string, unknown>>,
  budget: CostBudget,
): ReadState {
  const problems: FieldProblem[] = [];
  const value = <T>(expression: Expression<T> | undefined): T | undefined => valueOf(expression, variables, budget, problems);
  const holds = (expression: Expression<boolean>): boolean => value(expression) === true;
  const failed = holds(state.failed);
  const complete = holds(state.complete);
  const type = failed ? 'Failed' : complete ? 'Complete' : undefined;
  const reason = type === undefined ? undefined : value(state.reason);
  const end: ReadState['end'] = type && {
    type,
    reason: reason !== undefined && REASON.test(reason) ? reason : type,
    message: value(state.message) ?? '',
  };
  const started = holds(state.started) || end !== undefined;
  const status: unknown = object.status;
  const said = (field: string): unknown => (isJsonObject(status) ? status[field] : undefined);
  const sum = (of: (podSet: PodSet & { readonly finished: number }) => number): number =>
    podSets.reduce((all, podSet) => all + of(podSet), 0);
  const pods = sum(({ count }) => count);
  return {
    suspended: valueAt(object, suspend) === true,
    started,
    ready: holds(state.ready),
    atRest: holds(state.atRest),
    end,
    startTime: started ? (time(value(state.startTime)) ?? time(said('startTime')) ?? startedSince(object)) : undefined,
    completionTime: end === undefined ? undefined : (time(value(state.completionTime)) ?? time(said('completionTime'))),
    pods,
    finished: end?.type === 'Complete' ? pods : sum(({ count, finished }) => Math.min(count, finished)),
    problems,
  };
}

/** Of an object at home since its start was noted, of a copy since it was made. */
function startedSince({ metadata, status }: DeepReadonly<Unsaved<WorkObject>>): string | undefined {
  const conditions: unknown = isJsonObject(status) ? status['conditions'] : undefined;
  const noted = Array.isArray(conditions)
    ? conditions.find((each: unknown) => isJsonObject(each) && each['type'] === SwitchyardCondition.Started && each['status'] === 'True')
    : undefined;
  return (isJsonObject(noted) ? time(noted['lastTransitionTime']) : undefined) ?? metadata.creationTimestamp;
}
