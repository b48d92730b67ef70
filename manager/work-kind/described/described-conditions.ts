import type { DeepReadonly, JobCondition, WorkStatus } from '../../../shared/api/kubernetes.ts';
import { STATUS_ANNOTATION } from '../../../shared/api/names.ts';
import { toWireTime } from '../../../shared/api/wire-time.ts';
import { findCondition } from '../../../shared/kube/conditions.ts';
import { isJsonObject, parseJson } from '../../api/json-value.ts';
import { conditionsOf } from '../copy/remote-conditions.ts';
import { isSwitchyards } from '../own-conditions.ts';
import type { StoredStatus } from '../work-kind.ts';
import type { ReadState } from './read-state.ts';

/** Conditions by which every kind is judged: of the end, by its description. */
const VERDICTS: readonly string[] = ['Complete', 'Failed'];

/** The conditions of a kind of its own, without those that its description decides. */
export const kindsOwn = (conditions: readonly DeepReadonly<JobCondition>[] | undefined): JobCondition[] =>
  (conditions ?? [])
    .filter(({ type, status }) => !isSwitchyards(type) && type !== 'Suspended' && !(VERDICTS.includes(type) && status === 'True'))
    .map(copyOf);

/** Conditions of the form of metav1: no kind but Job has lastProbeTime. */
export function condition(type: string, status: 'True' | 'False', reason: string, message: string, nowMs: number): JobCondition {
  return { type, status, reason, message, lastTransitionTime: toWireTime(nowMs) };
}

/** The condition of its end, as its description sees it: with the time of the kind's own condition of that type, or now. */
export function verdict({ end }: ReadState, conditions: readonly DeepReadonly<JobCondition>[] | undefined, nowMs: number): JobCondition[] {
  if (end === undefined) return [];
  const own = findCondition(conditions, end.type);
  return [own?.status === 'True' ? copyOf(own) : condition(end.type, 'True', end.reason, end.message, nowMs)];
}

export const copyOf = ({ lastProbeTime: _probed, ...each }: DeepReadonly<JobCondition>): JobCondition => ({ ...each });

/** A status as it is stored where the kind has no conditions: they are in an annotation. {@link statusIn} puts them back. */
export const storedApart = ({ conditions, ...status }: DeepReadonly<WorkStatus>): StoredStatus => ({
  status,
  annotations: { [STATUS_ANNOTATION]: JSON.stringify(conditions ?? []) },
});

/** The status of an object with the conditions of its annotation. */
export function statusIn(
  status: DeepReadonly<WorkStatus> | undefined,
  annotations: Readonly<Record<string, string>> | undefined,
): DeepReadonly<WorkStatus> | undefined {
  const text = annotations?.[STATUS_ANNOTATION];
  const list = text === undefined ? undefined : parseJson(text);
  if (!Array.isArray(list)) return status;
  return { ...(isJsonObject(status) ? status : {}), conditions: conditionsOf(list) };
}
