import type { Resource } from '../../shared/api/resources.ts';
import { isAbsent, isForbidden } from '../../shared/kube/api-error.ts';
import type { ReadClient } from '../../shared/kube/client.ts';
import { findCondition } from '../../shared/kube/conditions.ts';
import { WORK_KINDS, type WorkKindObject } from '../api/work-kind.ts';
import { qualifierOf } from '../work-kind/qualified-name.ts';
import type { SingleKind } from '../work-kind/work-kind.ts';
import { CommandError } from './command-error.ts';
import { plain } from './plain-text.ts';

/**
 * The kinds beside Jobs that the manager takes, by the WorkKinds of its cluster: those that it has refused, or that do not compile, are
 * left out. Throws {@link CommandError} for users who may not list WorkKinds.
 */
export async function readWorkKinds(client: Pick<ReadClient, 'list'>): Promise<readonly SingleKind[]> {
  let objects: readonly WorkKindObject[];
  try {
    ({ items: objects } = await client.list(WORK_KINDS));
  } catch (error) {
    if (isAbsent(error)) return [];
    if (!isForbidden(error)) throw error;
    throw new CommandError(
      'you may not list workkinds.switchyard.dev, which describe the kinds other than Job; ask for a ClusterRole with the verb list on them',
      undefined,
      { cause: error },
    );
  }
  const accepted = objects.filter(({ status }) => findCondition(status?.conditions, 'Accepted')?.status !== 'False');
  if (accepted.length === 0) return [];
  // The evaluator of expressions is loaded only where there are some.
  const { describedKinds } = await import('../work-kind/described/described-kind.ts');
  return describedKinds(accepted.map(({ spec }) => spec));
}

/**
 * Whether a word names a kind, as for kubectl: `jobset`, `jobsets`, `jobset.jobset.x-k8s.io`, `jobsets.jobset.x-k8s.io`. The words of Jobs
 * alone name no kind of another group.
 */
export function isWordFor(resource: Pick<Resource, 'kind' | 'plural' | 'group'>, word: string): boolean {
  const { kind, plural, group } = resource;
  const names = [kind.toLowerCase(), plural];
  const short = qualifierOf(resource) === undefined ? names : names.filter((name) => !JOB_WORDS.includes(name));
  return [...short, ...names.map((name) => `${name}.${group}`)].includes(word.toLowerCase());
}

const JOB_WORDS = ['job', 'jobs'];

/** Says of a word that it names none of these kinds, which the manager takes. */
export const noKind = (field: string, word: string, kinds: readonly Pick<SingleKind, 'resource'>[]): string =>
  `${field}: the manager takes no kind ${plain(word)}; it takes ${namesOf(kinds)}`;

/** Kinds by the words that commands take: `jobs, jobsets`. */
export const namesOf = (kinds: readonly Pick<SingleKind, 'resource'>[]): string => kinds.map(({ resource }) => resource.plural).join(', ');
