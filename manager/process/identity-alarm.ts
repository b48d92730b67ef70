import { MANAGER_FIELD_MANAGER } from '../../shared/api/names.ts';
import { NAMESPACES } from '../../shared/api/resources.ts';
import type { ReadClient } from '../../shared/kube/client.ts';
import type { EventRecorder } from '../../shared/kube/event-recorder.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { IdentityMetrics } from './identity-metrics.ts';

/**
 * Alarms, once for each cause, when the manager's user is not the manager's alone: another program with it could do all that the manager
 * may.
 */
export interface IdentityAlarm {
  /** Another program has written a Job as that user, with the field manager `fieldManager`, '' for none. */
  sharedBy(username: string, fieldManager: string): void;
  /** That user has all rights. */
  administrator(username: string): void;
  /** The alarms so far, for the manager's status. */
  warnings(): readonly string[];
}

export type IdentityAlarmDeps = {
  readonly client: ReadClient;
  readonly events: EventRecorder;
  readonly log: Logger;
  readonly metrics: IdentityMetrics;
};

export function createIdentityAlarm({ client, events, log, metrics }: IdentityAlarmDeps): IdentityAlarm {
  const raised = new Map<string, string>();
  metrics.shared.set(0);

  const raise = (reason: string, message: string, context: object): void => {
    if (raised.has(reason)) return;
    raised.set(reason, message);
    metrics.shared.set(1);
    log.error(message, { ...context });
    // The Event is about the installation: the namespace kube-system stands for the cluster, as it does in the manager's id.
    client.get(NAMESPACES, { namespace: '', name: 'kube-system' }).then(
      (namespace) => events.event(NAMESPACES, namespace, 'Warning', reason, message),
      (error: unknown) => log.warn('no event tells that the manager’s identity is shared', { error }),
    );
  };

  return {
    sharedBy: (username, fieldManager) =>
      raise(
        'IdentityShared',
        `somebody else writes as ${username}, the user that the manager is; give the manager a user of its own, that nobody else can use`,
        { username, fieldManager, expected: MANAGER_FIELD_MANAGER },
      ),
    administrator: (username) =>
      raise(
        'AdministratorIdentity',
        `the manager uses an administrator’s identity, ${username}; give it a user of its own, with the rights that the chart gives it`,
        { username },
      ),
    warnings: () => [...raised.values()],
  };
}
