import type { KubeObject, DeepReadonly } from '../api/kubernetes.ts';
import type { Resource } from '../api/resources.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import type { WriteClient } from './client.ts';

/**
 * Writes core/v1 Events with client-go's correlation: a repeated event raises `count` by PATCH, the tenth distinct
 * message of one object and reason within ten minutes starts an aggregate, a token bucket (25, then one in 300 s)
 * per source and object drops floods. Never throws and never blocks its caller: what cannot be written is logged.
 */
export interface EventRecorder {
  event(resource: Resource, object: DeepReadonly<KubeObject>, type: 'Normal' | 'Warning', reason: string, message: string): void;
  /** Resolves when everything recorded so far is written or given up. */
  flush(): Promise<void>;
}

export declare function createEventRecorder(options: {
  client: WriteClient;
  /** `source.component` and `reportingComponent`. */
  component: string;
  clock: Clock;
  log: Logger;
}): EventRecorder;
