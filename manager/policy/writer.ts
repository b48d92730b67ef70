import { CANARY_FIELD_MANAGER, MANAGER_FIELD_MANAGER, SUBMISSION_USER_EXTRA } from '../../shared/api/names.ts';

/** The writers that rules tell apart. Submission: the manager, as the ServiceAccount of a tenant. */
export type Writer = 'Manager' | 'LocalWorker' | 'Submission' | 'User';

/** The extra attributes of a user, besides name and groups. */
export type UserExtra = Readonly<Record<string, unknown>>;

/** The user names of programs, by the API server, such as `system:serviceaccount:switchyard:switchyard-manager`. */
export type Identities = {
  /** The user of this manager, and those of other managers that create copies on this cluster. */
  readonly managers: readonly string[];
  /** The users of workers that run copies on the manager's cluster, where it is a worker cluster, too. */
  readonly localWorkers: readonly string[];
};

export type Recognition = {
  readonly writer: Writer;
  /** Another program writes as the manager's user: judged as a user, and a reason for an alarm. */
  readonly sharesIdentity: boolean;
};

/**
 * Identifies the manager by its user name and its field manager. Any client can choose a field manager, so it proves nothing, but it
 * reveals a user with kubectl who was given the manager's identity.
 */
export function recognize(
  username: string | undefined,
  fieldManager: string | undefined,
  identities: Identities,
  extra: UserExtra = {},
): Recognition {
  if (username === undefined) return { writer: 'User', sharesIdentity: false };
  if (identities.managers.includes(username)) {
    const itself = fieldManager === MANAGER_FIELD_MANAGER;
    // A canary is judged as the submission of a user, though the manager submits it.
    return { writer: itself ? 'Manager' : 'User', sharesIdentity: !itself && fieldManager !== CANARY_FIELD_MANAGER };
  }
  if (identities.localWorkers.includes(username)) return { writer: 'LocalWorker', sharesIdentity: false };
  const submits = fieldManager === MANAGER_FIELD_MANAGER && Object.hasOwn(extra, SUBMISSION_USER_EXTRA);
  return { writer: submits ? 'Submission' : 'User', sharesIdentity: false };
}
