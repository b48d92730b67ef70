import { omitUndefined } from '../runtime/omit-undefined.ts';
import type { RawClient } from './client.ts';

/** What somebody wants to do, as a SubjectAccessReview has it; one of the two. */
export type AccessAttributes =
  | { readonly nonResourceAttributes: { readonly path: string; readonly verb: string } }
  | {
      readonly resourceAttributes: {
        readonly namespace: string;
        readonly verb: string;
        readonly group: string;
        readonly resource: string;
        readonly subresource?: string;
        readonly name?: string;
      };
    };

/** Somebody, as an API server knows him. */
export type KubeUser = {
  readonly username: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
  readonly extra?: Readonly<Record<string, readonly string[]>>;
};

/** Whose token this is (TokenReview); undefined where it is nobody's. Throws ApiError where the server cannot be asked. */
export async function userOfToken(client: RawClient, token: string, signal: AbortSignal): Promise<KubeUser | undefined> {
  const { authenticated, user } = await create<{ authenticated?: boolean; user?: Partial<KubeUser> }>(
    client,
    '/apis/authentication.k8s.io/v1/tokenreviews',
    { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } },
    signal,
  );
  const username = user?.username ?? '';
  return authenticated === true && username !== '' ? { ...user, username } : undefined;
}

/** Whether somebody may do something (SubjectAccessReview). Throws ApiError where the server cannot be asked. */
export async function userMay(client: RawClient, user: KubeUser, attributes: AccessAttributes, signal: AbortSignal): Promise<boolean> {
  const { username, uid, groups, extra } = user;
  const { allowed, denied } = await create<{ allowed?: boolean; denied?: boolean }>(
    client,
    '/apis/authorization.k8s.io/v1/subjectaccessreviews',
    {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SubjectAccessReview',
      spec: { user: username, uid, groups, extra, ...attributes },
    },
    signal,
  );
  return allowed === true && denied !== true;
}

/** Whether the user of a client may do something (SelfSubjectAccessReview). Throws ApiError where the server cannot be asked. */
export async function clientMay(client: RawClient, attributes: AccessAttributes, signal?: AbortSignal): Promise<boolean> {
  const { allowed } = await create<{ allowed?: boolean }>(
    client,
    '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews',
    { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec: attributes },
    signal,
  );
  return allowed === true;
}

/** The status of a review. */
async function create<T extends object>(client: RawClient, path: string, body: object, signal?: AbortSignal): Promise<Partial<T>> {
  const answer = JSON.parse(await client.raw({ method: 'POST', path, body, ...omitUndefined({ signal }) })) as { status?: Partial<T> };
  return answer.status ?? {};
}
