import { MANAGER_FIELD_MANAGER } from '../../shared/api/names.ts';
import { NAMESPACES } from '../../shared/api/resources.ts';
import type { ReadClient } from '../../shared/kube/client.ts';
import type { EventRecorder } from '../../shared/kube/event-recorder.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { IdentityMetrics } from './identity-metrics.ts';

/** Says loudly, and each thing once, that the manager's user is not the manager's alone: whoever else has it could do all that the manager may. */
export interface IdentityAlarm {
  /** Somebody else has written a Job as that user, calling himself `fieldManager`, '' for no name. */
  sharedBy(username: string, fieldManager: string): void;
  /** That user may do everything. */
  administrator(username: string): void;
  /** What has been said, for people who ask how the manager is. */
  warnings(): readonly string[];
}

export type IdentityAlarmDeps = {
  readonly client: ReadClient;
  readonly events: EventRecorder;
  readonly log: Logger;
  readonly metrics: IdentityMetrics;
};

export function createIdentityAlarm({ client, events, log, metrics }: IdentityAlarmDeps): IdentityAlarm {
  const said = new Map<string, string>();
  metrics.shared.set(0);

  const say = (reason: string, message: string, context: object): void => {
    if (said.has(reason)) return;
    said.set(reason, message);
    metrics.shared.set(1);
    log.error(message, { ...context });
    // It is about the installation; the namespace kube-system stands for the cluster, as it does for the manager's id.
    client.get(NAMESPACES, { namespace: '', name: 'kube-system' }).then(
      (namespace) => events.event(NAMESPACES, namespace, 'Warning', reason, message),
      (error: unknown) => log.warn('no event tells that the manager’s identity is shared', { error }),
    );
  };

  return {
    sharedBy: (username, fieldManager) =>
      say(
        'IdentityShared',
        `somebody else writes as ${username}, the user that the manager is; give the manager a user of its own, that nobody else can use`,
        { username, fieldManager, expected: MANAGER_FIELD_MANAGER },
      ),
    administrator: (username) =>
      say(
        'AdministratorIdentity',
        `the manager uses an administrator’s identity, ${username}; give it a user of its own, with the rights that the chart gives it`,
        { username },
      ),
    warnings: () => [...said.values()],
  };
}
