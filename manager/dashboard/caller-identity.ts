import { bearerToken } from '../../shared/kube/access-gate.ts';
import type { AddressRanges } from '../../shared/kube/address-ranges.ts';
import { GROUPS_MAX, isOfSystem, isUsableGroup, NAME_LENGTH_MAX, namedUser } from '../sign-in/named-user.ts';
import type { Session } from '../sign-in/sign-in.ts';
import type { Refused, ClaimedIdentity } from './rights-reader.ts';

/** A proxy that is trusted to identify users, besides tokens. */
export type TrustedProxy = {
  /** In lower case. */
  readonly userHeader: string;
  readonly groupsHeader?: string | undefined;
  readonly from: AddressRanges;
};

type Asking = {
  readonly authorization: string | undefined;
  readonly address: string | undefined;
  readonly header: (name: string) => string | undefined;
  readonly session?: Session;
};

/**
 * The claimed identity of a request, before any review. A token takes precedence over a session, and that over the headers of a proxy.
 * These count from the address of the proxy alone. Session and headers count for requests of the page itself: a browser sends cookies with
 * requests of other sites, too, and marks those.
 */
export function claimedIdentity(asking: Asking, proxy: TrustedProxy | undefined): ClaimedIdentity | Refused {
  const { authorization, header, session } = asking;
  const token = bearerToken(authorization);
  if (token !== undefined) return { kind: 'Token', token };
  if (session === 'NotReady') return { kind: 'Refused', status: 503, why: 'the manager has just started, and is reading its keys' };
  const claimed = typeof session === 'object' ? session : namedByProxy(asking, proxy);
  if (claimed === undefined)
    return {
      kind: 'Refused',
      status: 401,
      why:
        session === 'Ended'
          ? 'the session has ended: sign in again'
          : 'a token of this cluster is asked for: send Authorization: Bearer TOKEN',
    };
  const site = header('sec-fetch-site');
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return { kind: 'Refused', status: 403, why: 'another site asks' };
  return claimed;
}

/** The user in the headers of a proxy; undefined: they name none, or are not of the proxy. */
function namedByProxy({ address, header }: Asking, proxy: TrustedProxy | undefined): ClaimedIdentity | Refused | undefined {
  if (proxy === undefined || address === undefined || proxy.from.rangeOf(address) === undefined) return undefined;
  const username = header(proxy.userHeader)?.trim() ?? '';
  if (username === '' || username.length > NAME_LENGTH_MAX) return undefined;
  // A proxy that appends its header to one of the browser makes a list of both (RFC 9110, 5.3), whose first name any caller can choose.
  if (username.includes(','))
    return { kind: 'Refused', status: 401, why: `the header ${proxy.userHeader} names more than one user: have the proxy replace it` };
  if (isOfSystem(username)) return undefined;
  const groups = (proxy.groupsHeader === undefined ? '' : (header(proxy.groupsHeader) ?? ''))
    .split(',')
    .map((each) => each.trim())
    .filter(isUsableGroup)
    .slice(0, GROUPS_MAX);
  return { kind: 'User', user: namedUser(username, groups) };
}
