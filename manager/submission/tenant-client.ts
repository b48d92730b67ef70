import { ApiError } from '../../shared/kube/api-error.ts';
import type { ReadClient, WriteClient } from '../../shared/kube/client.ts';

/** The manager is not let to act as the ServiceAccount of a tenant. No submitter can help that: an administrator has to. */
export class ImpersonationRefused extends Error {
  override readonly name = 'ImpersonationRefused';
}

export type TenantClientDeps = {
  /** As the manager: reads, and writes what is there already. */
  readonly manager: ReadClient & WriteClient;
  /** As whoever the tenant creates Jobs as. */
  readonly creator: Pick<WriteClient, 'create'>;
  /** Why Jobs cannot be created as that, after each attempt; undefined: they can, or the server says no for another reason. */
  readonly onImpersonation: (problem: string | undefined) => void;
};

/** What a tenant creates is created as its ServiceAccount, and its rights are those of that. Throws {@link ImpersonationRefused} where the manager may not. */
export function tenantClient({ manager, creator, onImpersonation }: TenantClientDeps): ReadClient & WriteClient {
  return {
    get: (...given) => manager.get(...given),
    list: (...given) => manager.list(...given),
    replace: (...given) => manager.replace(...given),
    patch: (...given) => manager.patch(...given),
    delete: (...given) => manager.delete(...given),
    async create(...given) {
      try {
        const created = await creator.create(...given);
        onImpersonation(undefined);
        return created;
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        const problem = impersonationProblem(error);
        onImpersonation(problem);
        if (problem === undefined) throw error;
        throw new ImpersonationRefused(problem, { cause: error });
      }
    },
  };
}

/**
 * Why the manager may not act as somebody else, with the remedy; undefined: the server refused what was asked for. Upstream says it of the resource that is impersonated
 * (`serviceaccounts`, `userextras`), and in these words (endpoints/filters/impersonation); refusals of what was asked for say `cannot create resource`, and those of
 * admission name the Job.
 */
export const impersonationProblem = ({ code, message }: ApiError): string | undefined =>
  code === 403 && / cannot impersonate[-:a-z]* resource "/.test(message)
    ? `${message}; let the manager impersonate the ServiceAccount (chart: submissions.impersonate)`
    : undefined;
