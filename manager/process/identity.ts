import { NAMESPACES } from '../../shared/api/resources.ts';
import type { RawClient, ReadClient } from '../../shared/kube/client.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import { untilItWorks } from '../../shared/runtime/tasks.ts';

/** The identity of the manager on its own cluster. Requests are retried until they are answered; undefined when `signal` aborted first. */
export type IdentityDeps<Client> = { readonly client: Client; readonly clock: Clock; readonly log: Logger };

const RETRY_MS = 2_000;

/** The user name of the manager. */
export const ownUsername = ({ client, clock, log }: IdentityDeps<RawClient>, signal: AbortSignal): Promise<string | undefined> =>
  untilItWorks(
    async () => {
      const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
      const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
      const answer: unknown = JSON.parse(await client.raw({ method: 'POST', path, body: review, signal }));
      const username = field(field(field(answer, 'status'), 'userInfo'), 'username');
      if (typeof username !== 'string') throw new Error('the answer names no user');
      return username;
    },
    { trouble: 'our own user name cannot be read yet', retryMs: RETRY_MS, clock, log },
    signal,
  );

/** Whether the manager's user has all rights, as administrators do: it is then hardly the manager's alone. */
export const mayDoEverything = ({ client, clock, log }: IdentityDeps<RawClient>, signal: AbortSignal): Promise<boolean | undefined> =>
  untilItWorks(
    async () => {
      const resourceAttributes = { verb: '*', group: '*', version: '*', resource: '*', subresource: '*' };
      const review = { apiVersion: 'authorization.k8s.io/v1', kind: 'SelfSubjectAccessReview', spec: { resourceAttributes } };
      const path = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
      const answer: unknown = JSON.parse(await client.raw({ method: 'POST', path, body: review, signal }));
      const allowed = field(field(answer, 'status'), 'allowed');
      if (typeof allowed !== 'boolean') throw new Error('the answer says neither yes nor no');
      return allowed;
    },
    { trouble: 'our own rights cannot be read yet', retryMs: RETRY_MS, clock, log },
    signal,
  );

/** The identity of the manager cluster: the UID of the namespace kube-system. */
export const clusterIdentity = ({ client, clock, log }: IdentityDeps<ReadClient>, signal: AbortSignal): Promise<string | undefined> =>
  untilItWorks(
    async () => {
      const namespace = await client.get(NAMESPACES, { namespace: '', name: 'kube-system' }, { signal });
      return namespace.metadata.uid;
    },
    { trouble: 'the identity of the manager cluster cannot be read yet', retryMs: RETRY_MS, clock, log },
    signal,
  );

const field = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null ? Object.entries(value).find(([key]) => key === name)?.[1] : undefined;
