import type { DeepReadonly, JobCondition } from '../../shared/api/kubernetes.ts';
import { toWireTime } from '../../shared/api/wire-time.ts';
import { findCondition } from '../../shared/kube/conditions.ts';
import { isCheckType } from '../api/check-states.ts';
import { SwitchyardCondition } from '../api/reasons.ts';
import type { OwnCondition } from './work-kind.ts';

/** Makes a condition that begins now, in the form of its kind: only conditions of Jobs have lastProbeTime. */
type NewCondition = (type: string, status: 'True' | 'False', reason: string, message: string, nowMs: number) => JobCondition;

/** Sets conditions of Switchyard; the transition time changes only with the status. */
export function withOwn(
  conditions: JobCondition[],
  own: readonly DeepReadonly<OwnCondition>[],
  nowMs: number,
  newCondition: NewCondition,
): JobCondition[] {
  return own.reduce((all, { type, status, reason, message }) => {
    const present = findCondition(all, type);
    if (present === undefined) return [...all, newCondition(type, status, reason, message, nowMs)];
    const kept = { ...present, status, reason, message, ...(present.status === status ? {} : { lastTransitionTime: toWireTime(nowMs) }) };
    return all.map((each) => (each.type === type ? kept : each));
  }, conditions);
}

/** Conditions that no worker cluster may set: those of Switchyard, and those of admission checks. */
export const isSwitchyards = (type: string): boolean => Object.hasOwn(SwitchyardCondition, type) || isCheckType(type);
