import { ApiError } from '../../shared/kube/api-error.ts';
import type { ReadClient, WriteClient } from '../../shared/kube/client.ts';

/** The manager is not let to act as the ServiceAccount of a tenant. No submitter can help that: an administrator has to. */
export class ImpersonationRefused extends Error {
  override readonly name = 'ImpersonationRefused';
}

export type TenantClientDeps = {
  /** As the manager: reads, and changes what is there already. */
  readonly manager: ReadClient & WriteClient;
  /** As whoever the tenant creates Jobs as, and deletes those. */
  readonly actor: Pick<WriteClient, 'create' | 'delete'>;
  /** Why the manager cannot act as that, after each attempt; undefined: it can, or the server says no for another reason. */
  readonly onImpersonation: (problem: string | undefined) => void;
};

/**
 * What a tenant creates and deletes is created and deleted as its ServiceAccount, and its rights are those of that. Throws {@link
 * ImpersonationRefused} where the manager may not.
 */
export function tenantClient({ manager, actor, onImpersonation }: TenantClientDeps): ReadClient & WriteClient {
  async function acting<T>(call: () => Promise<T>): Promise<T> {
    try {
      const answer = await call();
      onImpersonation(undefined);
      return answer;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const problem = impersonationProblem(error);
      onImpersonation(problem);
      if (problem === undefined) throw error;
      throw new ImpersonationRefused(problem, { cause: error });
    }
  }
  return {
    get: (...given) => manager.get(...given),
    list: (...given) => manager.list(...given),
    replace: (...given) => manager.replace(...given),
    patch: (...given) => manager.patch(...given),
    create: (...given) => acting(() => actor.create(...given)),
    delete: (...given) => acting(() => actor.delete(...given)),
  };
}

/**
 * Why the manager may not act as somebody else, with the remedy; undefined: the server refused what was asked for. Upstream says it of the
 * resource that is impersonated (`serviceaccounts`, `userextras`), and in these words (endpoints/filters/impersonation); refusals of what
 * was asked for say `cannot create resource`, and those of admission name the Job.
 */
export const impersonationProblem = ({ code, message }: ApiError): string | undefined =>
  code === 403 && / cannot impersonate[-:a-z]* resource "/.test(message)
    ? `${message}; let the manager impersonate the ServiceAccount (chart: submissions.impersonate)`
    : undefined;
