import type { Job } from '../../shared/api/kubernetes.ts';
import type { Resource } from '../../shared/api/resources.ts';
import { isAbsent, isForbidden } from '../../shared/kube/api-error.ts';
import type { ListOptions } from '../../shared/kube/client.ts';
import type { ClusterConnection, JobClient } from './cluster-connection.ts';
import { CommandError } from './command-error.ts';
import { plain } from './plain-text.ts';

export type ListedWork = {
  /** Of every kind, known by qualified names, each with its `kind`. */
  readonly objects: readonly Job[];
  readonly by: JobClient;
  /** The kinds, in the plural, of which nothing is listed, each with what the API server says. */
  readonly unread: readonly { readonly plural: string; readonly why: string }[];
  /** Why there are Jobs alone: the user may not list WorkKinds. */
  readonly unknownKinds: string | undefined;
};

/**
 * Jobs and objects of every kind that the manager takes, whoever manages them, by one list each. Throws what the list of Jobs is refused
 * with; without the right to it nothing else is listed but WorkKinds.
 */
export async function listWork(
  connection: Pick<ClusterConnection, 'client' | 'kind' | 'kinds'>,
  options: Pick<ListOptions, 'namespace' | 'labelSelector'>,
): Promise<ListedWork> {
  let unknownKinds: string | undefined;
  const list = async ({ client }: JobClient, resource: Resource<Job>): Promise<readonly Job[]> =>
    (await client.list(resource, options)).items.map((object) => ({ ...object, kind: resource.kind }));
  const [jobs, by] = await Promise.all([
    list(connection, connection.kind.resource),
    connection.kinds().catch((error: unknown): JobClient => {
      if (!(error instanceof CommandError)) throw error;
      unknownKinds = error.message;
      return connection;
    }),
  ]);
  const unread: { readonly plural: string; readonly why: string }[] = [];
  const others = by.kind.others.map(({ resource }) =>
    list(by, resource as Resource<Job>).catch((error: unknown) => {
      if (!isForbidden(error) && !isAbsent(error)) throw error;
      unread.push({ plural: resource.plural, why: plain(error instanceof Error ? error.message : '') });
      return [];
    }),
  );
  return { objects: [jobs, ...(await Promise.all(others))].flat(), by, unread, unknownKinds };
}
