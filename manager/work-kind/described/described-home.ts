import type { DeepReadonly, JobCondition, WorkObject, WorkStatus } from '../../../shared/api/kubernetes.ts';
import { findCondition, finishedCondition, isFinished } from '../../../shared/kube/conditions.ts';
import { isSwitchyards, withOwn } from '../own-conditions.ts';
import type { HomeStatusInput, SingleHomeRules } from '../work-kind.ts';
import { condition, copyOf, kindsOwn, storedApart } from './described-conditions.ts';
import type { Description } from './description.ts';
import { valueAt, withValueAt } from '../../../shared/api/field-path.ts';
import type { Readings } from './readings.ts';

/**
 * The status of objects of a described kind on the manager cluster: that of the copy as it is, with conditions that the manager reads of
 * every kind: Complete or Failed once its description sees its end, Suspended, and Switchyard's own.
 */
export function describedHome(description: Description, readings: Readings): SingleHomeRules {
  const { kind } = description.resource;
  const of = (input: HomeStatusInput): WorkStatus => statusOf(description, readings, input);
  return {
    hasVerdict: ({ status }) => isFinished(status),
    of,
    failed: (local, told, { reason, message }, own, nowMs) => {
      const said = (told?.conditions ?? []).filter(({ type }) => type === 'Suspended').map(copyOf);
      const conditions = [...kindsOwn(told?.conditions), ...said, condition('Failed', 'True', reason, message, nowMs)];
      return of({ local, remote: { ...told, conditions }, own, nowMs });
    },
    // A described kind has no verdict before its end.
    carryOutVerdict: (local) => shallow(local.status),
    withTerminal: (status) => status,
    withoutPods: (status, nowMs) => {
      const others = (status?.conditions ?? []).filter(({ type }) => type !== 'Suspended').map(copyOf);
      return { conditions: [...others, suspended(kind, true, nowMs)] };
    },
    counted: (status) => status,
    rested: (object, conditions) => ({
      ...withValueAt(object, description.suspend, true),
      status: { conditions: [...conditions] },
    }),
    stored: (status) => (description.status.hasConditions ? { status } : storedApart(status)),
    isMinor: (patch) => {
      const fields = Object.keys(patch);
      return fields.length > 0 && fields.every((field) => description.status.minor.has(field));
    },
    suspendedConditions: (time) => [{ ...suspended(kind, true, 0), lastTransitionTime: time }],
    seedFor: () => undefined,
    hasFinishedWork: () => false,
  };
}

/**
 * 1. A finished object keeps its status for good.
 * 2. While there is no copy, nothing of its kind's own status holds.
 * 3. Otherwise it is that of the copy.
 */
function statusOf(description: Description, readings: Readings, { local, remote, own, nowMs }: HomeStatusInput): WorkStatus {
  if (isFinished(local.status)) return shallow(local.status); // 1
  const end = finishedCondition(remote);
  const conditions = withOwn(
    [
      ...kindsOwn(remote?.conditions),
      ...suspendedCondition(description, local, remote, nowMs),
      ...(end === undefined ? [] : [copyOf(end)]),
      ...(local.status?.conditions ?? []).filter(({ type }) => isSwitchyards(type)).map(copyOf),
    ],
    own,
    nowMs,
    condition,
  );
  if (remote === undefined) return { conditions }; // 2
  return readings.keepState({ ...comesHome(description, remote), conditions }, readings.stateOf({ status: remote })); // 3
}

function comesHome({ status: { fields } }: Description, remote: DeepReadonly<WorkStatus>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(remote).filter(([field]) => field !== 'conditions' && (fields?.has(field) ?? true)));
}

/** The condition of the copy, if it has one; else what follows from the object: suspended and without a copy, nothing of it runs. */
function suspendedCondition(
  { resource, suspend }: Description,
  local: DeepReadonly<WorkObject>,
  remote: DeepReadonly<WorkStatus> | undefined,
  nowMs: number,
): JobCondition[] {
  const told = findCondition(remote?.conditions, 'Suspended');
  if (told !== undefined) return [copyOf(told)];
  const present = findCondition(local.status?.conditions, 'Suspended');
  const is = remote === undefined && valueAt(local, suspend) === true;
  if (present === undefined ? !is : (present.status === 'True') === is) return present === undefined ? [] : [copyOf(present)];
  return [suspended(resource.kind, is, nowMs)];
}

const suspended = (kind: string, is: boolean, nowMs: number): JobCondition =>
  is
    ? condition('Suspended', 'True', 'Suspended', `${kind} suspended`, nowMs)
    : condition('Suspended', 'False', 'Resumed', `${kind} resumed`, nowMs);

const shallow = (status: DeepReadonly<WorkStatus> | undefined): WorkStatus => ({ ...(status as WorkStatus | undefined) });
