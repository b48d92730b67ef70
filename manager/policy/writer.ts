import { CANARY_FIELD_MANAGER, MANAGER_FIELD_MANAGER, SUBMISSION_USER_EXTRA } from '../../shared/api/names.ts';

/** Who writes, as far as the rules tell people and programs apart. Submission: the manager, as the ServiceAccount of a tenant. */
export type Writer = 'Manager' | 'LocalWorker' | 'Submission' | 'User';

/** What an API server knows of a user beside name and groups. */
export type UserExtra = Readonly<Record<string, unknown>>;

/** The user names of programs, as the API server knows them, such as `system:serviceaccount:switchyard:switchyard-manager`. */
export type Identities = {
  /** This manager's own, and those of other managers that make copies on this cluster. */
  readonly managers: readonly string[];
  /** Of the workers that run copies on the manager's cluster, where that is a worker cluster, too. */
  readonly localWorkers: readonly string[];
};

export type Recognition = {
  readonly writer: Writer;
  /** Somebody else writes as the user that the manager is: judged as a user, and a reason for alarm. */
  readonly sharesIdentity: boolean;
};

/**
 * The manager is told by its user name and by its field manager. A field manager is a word that every client chooses for itself: it proves
 * nothing, but a person with kubectl who was given the manager's identity is found out by it.
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
    // A canary is judged as what a user submits, though it is the manager who does.
    return { writer: itself ? 'Manager' : 'User', sharesIdentity: !itself && fieldManager !== CANARY_FIELD_MANAGER };
  }
  if (identities.localWorkers.includes(username)) return { writer: 'LocalWorker', sharesIdentity: false };
  const submits = fieldManager === MANAGER_FIELD_MANAGER && Object.hasOwn(extra, SUBMISSION_USER_EXTRA);
  return { writer: submits ? 'Submission' : 'User', sharesIdentity: false };
}
