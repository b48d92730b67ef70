import { parseKey } from '../../../shared/kube/keys.ts';
import type { Clock, Timer } from '../../../shared/runtime/clock.ts';
import type { DispatchProblem } from '../../api/refusals.ts';
import { ABLE, abilityAt, afterCreate, afterFailedCreate, type AbilityNow } from '../cluster/cluster-ability.ts';

/** Whether copies can be made on one cluster, by how creates there have ended. */
export interface CreateOutcomes {
  ability(): AbilityNow;
  succeeded(localKey: string): void;
  /** One failed through the fault of the cluster. Returns whether no Job is to be placed there now. */
  failed(localKey: string, problem: DispatchProblem): boolean;
  /** What failed while it was out of reach says nothing of what it can do now. */
  forget(): void;
  stop(): void;
}

/** `onTrial`: its back-off is over, and one Job may try it. */
export function createCreateOutcomes(clock: Clock, onTrial: () => void): CreateOutcomes {
  let ability = ABLE;
  let trial: Timer | undefined;
  return {
    ability: () => abilityAt(ability, clock.monotonic()),
    succeeded(localKey) {
      ability = afterCreate(ability, parseKey(localKey).namespace, clock.monotonic());
    },
    failed(localKey, problem) {
      const nowMs = clock.monotonic();
      ability = afterFailedCreate(ability, { key: localKey, namespace: parseKey(localKey).namespace }, problem, nowMs);
      if (ability.trouble === undefined) return false;
      trial?.cancel();
      trial = clock.schedule(onTrial, ability.trouble.untilMs - nowMs);
      return true;
    },
    forget() {
      ability = ABLE;
    },
    stop: () => trial?.cancel(),
  };
}
