import { fencedKindName } from '../../shared/api/fenced-kinds.ts';
import type { DeepReadonly, Job, WorkObject } from '../../shared/api/kubernetes.ts';
import { isOfKind } from '../../shared/api/resources.ts';
import { controllerOf } from '../../shared/kube/controller-of.ts';
import { parseQualifiedName, qualifierOf } from './qualified-name.ts';
import type { CachedForm, CopyRules, HomeStatusRules, SingleKind, WorkKind } from './work-kind.ts';

/**
 * Several kinds as one: each question goes to the kind of the object that it names. `jobs` answers for names without a qualifier, and for
 * a kind that is not among the others any more.
 */
export function createKinds(jobs: SingleKind<Job>, others: readonly SingleKind[]): WorkKind<Job> {
  if (others.length === 0) return jobs;
  const kinds = new Map(others.map((kind) => [qualifierOf(kind.resource), kind]));
  // Objects of other kinds go through types that say Job wherever code takes any kind.
  const of = (name: string | undefined): SingleKind<Job> =>
    ((name === undefined ? undefined : kinds.get(parseQualifiedName(name).qualifier)) as SingleKind<Job> | undefined) ?? jobs;
  const ask =
    <Asked extends Named, Rest extends unknown[], Answer>(
      method: (kind: SingleKind<Job>) => (object: Asked, ...rest: Rest) => Answer,
    ): ((object: Asked, ...rest: Rest) => Answer) =>
    (object, ...rest) =>
      method(of(object.metadata.name))(object, ...rest);
  const cache: CachedForm<Job> = {
    whole: ask(({ cache }) => cache.whole),
    compact: ask(({ cache }) => cache.compact),
    identity: ask(({ cache }) => cache.identity),
    problem: ask(({ cache }) => cache.problem),
  };
  const copies: CopyRules = {
    of: ask(({ copies }) => copies.of),
    essentials: ask(({ copies }) => copies.essentials),
    templateIdentity: (object) => of(object.metadata.name).copies.templateIdentity(object),
    unrelated: ask(({ copies }) => copies.unrelated),
    change: ask(({ copies }) => copies.change),
    isFenced: ask(({ copies }) => copies.isFenced),
    suspended: (copy) => of(copy.metadata.name).copies.suspended(copy),
    withReferences: (copy, nameOf) => of(copy.metadata.name).copies.withReferences(copy, nameOf),
    hasLostController: ask(({ copies }) => copies.hasLostController),
    hasOtherController: ask(({ copies }) => copies.hasOtherController),
    droppedFields: (sent, kept) => of(kept.metadata.name).copies.droppedFields(sent, kept),
    isAtRest: ask(({ copies }) => copies.isAtRest),
    isUnbegun: ask(({ copies }) => copies.isUnbegun),
    isResumeUnseen: ask(({ copies }) => copies.isResumeUnseen),
    resumption: ask(({ copies }) => copies.resumption),
    isJudgedAtRest: ask(({ copies }) => copies.isJudgedAtRest),
    isWaitingToStart: ask(({ copies }) => copies.isWaitingToStart),
    believed: ask(({ copies }) => copies.believed),
  };
  const home: HomeStatusRules = {
    hasVerdict: (object) => of(object.metadata.name).home.hasVerdict(object),
    of: (input) => of(input.local.metadata.name).home.of(input),
    failed: ask(({ home }) => home.failed),
    carryOutVerdict: ask(({ home }) => home.carryOutVerdict),
    counted: (status, local) => of(local.metadata.name).home.counted(status, local),
    rested: ask(({ home }) => home.rested),
    seedFor: ask(({ home }) => home.seedFor),
    hasFinishedWork: ask(({ home }) => home.hasFinishedWork),
  };
  return {
    of,
    others,
    resource: jobs.resource,
    controllerOf: (object) => of(object.metadata.name).controllerOf(object),
    isSuspended: (object) => of(object.metadata.name).isSuspended(object),
    prepared: (object) => of(object.metadata.name).prepared(object),
    preparation: (object) => of(object.metadata.name).preparation(object),
    ruleProblems: (object, rules) => of(object.metadata.name).ruleProblems(object, rules),
    podSets: (object) => of(object.metadata.name).podSets(object),
    podsAtOnce: (object) => of(object.metadata.name).podsAtOnce(object),
    podsNeeded: ask(({ podsNeeded }) => podsNeeded),
    readyPodsNeeded: ask(({ readyPodsNeeded }) => readyPodsNeeded),
    admittedPart: ask(({ admittedPart }) => admittedPart),
    graceSeconds: ask(({ graceSeconds }) => graceSeconds),
    deadlineSeconds: ask(({ deadlineSeconds }) => deadlineSeconds),
    ttlSeconds: ask(({ ttlSeconds }) => ttlSeconds),
    programOf: ask(({ programOf }) => programOf),
    podFenceProblem: (object) => of(object.metadata.name).podFenceProblem(object),
    references: (object) => of(object.metadata.name).references(object),
    needs: (object) => of(object.metadata.name).needs(object),
    podSelector: ask(({ podSelector }) => podSelector),
    progress: (object) => of(object.metadata.name).progress(object),
    cache,
    copies,
    home,
  };
}

/** By which name workers announce that they stop copies of the kind of this object; undefined: all of them do, or none. */
export function fencedKindOf(kind: Pick<WorkKind, 'of'>, { metadata }: Named): string | undefined {
  const { fence } = kind.of(metadata.name);
  return typeof fence === 'string' ? undefined : fencedKindName(fence.resource);
}

/** Whether the controller of an object is one of a described kind, such as a JobSet of its Jobs. */
export function isPart({ others }: Pick<WorkKind, 'others'>, object: DeepReadonly<Pick<WorkObject, 'metadata'>>): boolean {
  const owner = controllerOf(object);
  return others.some(({ resource }) => isOfKind(resource, owner));
}

type Named = { readonly metadata: { readonly name?: string } };
