import type { KubeUser } from '../../shared/kube/access-reviews.ts';

export const NAME_LENGTH_MAX = 512;
export const GROUPS_MAX = 128;

/** Only the API server assigns names and groups of the system: a claim or a header makes no user an administrator. */
export const isOfSystem = (name: string): boolean => name.startsWith('system:');

/** Whether a group may count that somebody else than the API server names. */
export const isUsableGroup = (group: string): boolean => group !== '' && group.length <= NAME_LENGTH_MAX && !isOfSystem(group);

/** A user whom a trusted proxy or an OpenID provider names, with usable groups. */
export const namedUser = (username: string, groups: readonly string[]): KubeUser => ({
  username,
  groups: [...groups, 'system:authenticated'],
});
