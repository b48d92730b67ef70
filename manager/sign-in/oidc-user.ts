import type { KubeUser } from '../../shared/kube/access-reviews.ts';
import { GROUPS_MAX, isOfSystem, isUsableGroup, NAME_LENGTH_MAX, namedUser } from './named-user.ts';

/** How claims of an ID token become a user, as kube-apiserver does it (`--oidc-username-claim` and the flags beside it). */
export type ClaimRules = {
  readonly usernameClaim: string;
  readonly usernamePrefix: string;
  /** Absent: users have no groups. */
  readonly groupsClaim?: string;
  readonly groupsPrefix: string;
};

export type Claims = Readonly<Record<string, unknown>>;

/** The user of verified claims; a problem is a sentence with the remedy. */
export function userOfClaims(claims: Claims, rules: ClaimRules): KubeUser | { readonly problem: string } {
  const { usernameClaim, usernamePrefix, groupsClaim, groupsPrefix } = rules;
  const name = claims[usernameClaim];
  if (typeof name !== 'string' || name.trim() === '')
    return {
      problem: `The ID token has no claim "${usernameClaim}": have the provider send it, or name another claim with --dashboard-oidc-username-claim.`,
    };
  if (usernameClaim === 'email' && claims['email_verified'] !== undefined && claims['email_verified'] !== true)
    return { problem: 'Your provider has not verified your email address: verify it there, then sign in again.' };
  const username = `${usernamePrefix}${name}`;
  if (username.length > NAME_LENGTH_MAX)
    return {
      problem: `Your user name has more than ${NAME_LENGTH_MAX} characters: choose another claim with --dashboard-oidc-username-claim.`,
    };
  if (isOfSystem(username))
    return { problem: 'Your user name begins with "system:", which is for the API server: set --dashboard-oidc-username-prefix.' };
  const groups = groupsClaim === undefined ? [] : groupsOf(claims[groupsClaim]);
  if (groups === undefined)
    return {
      problem: `The claim "${groupsClaim}" is no list of names: have the provider send one, or name another claim with --dashboard-oidc-groups-claim.`,
    };
  const usable = groups.map((group) => `${groupsPrefix}${group}`).filter(isUsableGroup);
  if (usable.length > GROUPS_MAX)
    return { problem: `You are in ${usable.length} groups, and ${GROUPS_MAX} fit into a session: have the provider send fewer.` };
  return namedUser(username, usable);
}

/** A provider may send one group as a text. */
function groupsOf(claim: unknown): readonly string[] | undefined {
  if (claim === undefined || claim === null) return [];
  if (typeof claim === 'string') return [claim];
  return Array.isArray(claim) && claim.every((each) => typeof each === 'string') ? claim : undefined;
}
