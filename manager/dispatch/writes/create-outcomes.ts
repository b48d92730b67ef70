import { parseKey } from '../../../shared/kube/keys.ts';
import type { Clock, Timer } from '../../../shared/runtime/clock.ts';
import type { DispatchProblem } from '../../api/refusals.ts';
import { ABLE, abilityAt, afterCreate, afterFailedCreate, type AbilityNow } from '../cluster/cluster-ability.ts';

/** Whether copies can be created on one cluster, by the results of creates there. */
export interface CreateOutcomes {
  ability(): AbilityNow;
  succeeded(localKey: string): void;
  /** Records a create that failed through the fault of the cluster. Returns whether no Job is to be placed there now. */
  failed(localKey: string, problem: DispatchProblem): boolean;
  /** Forgets the failures: those while the cluster was out of reach do not show whether it can create copies now. */
  forget(): void;
  stop(): void;
}

/** `onTrial`: the back-off of the cluster is over, and one Job may try it. */
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
