import type { DeepReadonly } from '../../shared/api/kubernetes.ts';
import { parseWireTime } from '../../shared/api/wire-time.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import type { ConditionView } from './views.ts';

type Condition = {
  readonly type: string;
  readonly status: string;
  readonly reason?: string | undefined;
  readonly message?: string | undefined;
  readonly lastTransitionTime?: string | undefined;
};

/** The conditions of an object as views. */
export const conditionViews = (conditions: DeepReadonly<readonly Condition[]> | undefined): ConditionView[] =>
  (conditions ?? []).map(({ type, status, reason, message, lastTransitionTime }) => ({
    type,
    status,
    reason: reason ?? '',
    message: message ?? '',
    ...omitUndefined({ sinceMs: parseWireTime(lastTransitionTime) }),
  }));
