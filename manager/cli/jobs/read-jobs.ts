import type { Job } from '../../../shared/api/kubernetes.ts';
import { MANAGER_CONTROLLER_NAME } from '../../../shared/api/names.ts';
import { isNotFound } from '../../../shared/kube/api-error.ts';
import type { ReadClient } from '../../../shared/kube/client.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { CommandError } from '../command-error.ts';
import { plain } from '../plain-text.ts';
import type { NamedJob } from './operands.ts';
import type { WorkKind } from '../../work-kind/work-kind.ts';

export type JobChoice = {
  /** Empty: those that the selector chooses. */
  readonly jobs: readonly NamedJob[];
  readonly namespace: string;
  readonly everywhere: boolean;
  readonly selector: string | undefined;
};

/**
 * The Jobs that are meant, which are Switchyard's, and those that are named and do not exist. Throws CommandError for a named Job that is
 * not Switchyard's.
 */
export async function readJobs(
  { client, kind }: { readonly client: ReadClient; readonly kind: WorkKind<Job> },
  { jobs, namespace, everywhere, selector }: JobChoice,
): Promise<{ readonly found: readonly Job[]; readonly missing: readonly string[] }> {
  if (jobs.length === 0) {
    const { items } = await client.list(kind.resource, {
      namespace: everywhere ? '' : namespace,
      ...omitUndefined({ labelSelector: selector }),
    });
    return { found: items.filter((job) => isOurs(kind, job)), missing: [] };
  }
  const read = await Promise.all(
    jobs.map(async (job) => {
      const key = { namespace: job.namespace ?? namespace, name: job.name };
      return client.get(kind.resource, key).catch((error: unknown) => {
        if (isNotFound(error)) return plain(`${key.namespace}/${key.name}`);
        throw error;
      });
    }),
  );
  const found = read.filter((each) => typeof each !== 'string');
  const foreign = found.find((job) => !isOurs(kind, job));
  if (foreign === undefined) return { found, missing: read.filter((each) => typeof each === 'string') };
  throw new CommandError(
    `Job ${keyOf(foreign)} is not Switchyard’s: its spec.managedBy names ${plain(kind.controllerOf(foreign) ?? 'nobody')}; kubectl looks after it. Nothing was done`,
  );
}

const isOurs = (kind: WorkKind<Job>, job: Job): boolean => kind.controllerOf(job) === MANAGER_CONTROLLER_NAME;

export const keyOf = ({ metadata }: Pick<Job, 'metadata'>): string => plain(`${metadata.namespace}/${metadata.name}`);
