import type { Job } from '../../../shared/api/kubernetes.ts';
import { MANAGER_CONTROLLER_NAME } from '../../../shared/api/names.ts';
import { JOBS } from '../../../shared/api/resources.ts';
import type { ReadClient } from '../../../shared/kube/client.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { CommandError } from '../command-error.ts';
import { plain } from '../plain-text.ts';
import type { NamedJob } from './operands.ts';

export type JobChoice = {
  /** Empty: those that the selector chooses. */
  readonly jobs: readonly NamedJob[];
  readonly namespace: string;
  readonly everywhere: boolean;
  readonly selector: string | undefined;
};

/** The Jobs that are meant; only Switchyard's are. Throws CommandError where one that is named is not. */
export async function readJobs(client: ReadClient, { jobs, namespace, everywhere, selector }: JobChoice): Promise<Job[]> {
  if (jobs.length === 0) {
    const { items } = await client.list(JOBS, { namespace: everywhere ? '' : namespace, ...omitUndefined({ labelSelector: selector }) });
    return items.filter(isOurs);
  }
  const found = await Promise.all(jobs.map((job) => client.get(JOBS, { namespace: job.namespace ?? namespace, name: job.name })));
  const foreign = found.find((job) => !isOurs(job));
  if (foreign === undefined) return found;
  throw new CommandError(
    `Job ${keyOf(foreign)} is not Switchyard’s: its spec.managedBy names ${plain(foreign.spec.managedBy ?? 'nobody')}; kubectl looks after it`,
  );
}

const isOurs = ({ spec }: Job): boolean => spec.managedBy === MANAGER_CONTROLLER_NAME;

export const keyOf = ({ metadata }: Pick<Job, 'metadata'>): string => plain(`${metadata.namespace}/${metadata.name}`);
