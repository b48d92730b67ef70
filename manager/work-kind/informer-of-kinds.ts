import type { WorkObject } from '../../shared/api/kubernetes.ts';
import type { Resource } from '../../shared/api/resources.ts';
import { createInformerOfParts } from '../../shared/kube/informer-of-parts.ts';
import type { Informer } from '../../shared/kube/informer.ts';
import { parseQualifiedName, qualifierOf } from './qualified-name.ts';
import type { SingleKind, WorkKind } from './work-kind.ts';

/** One informer over the objects of all kinds, known by qualified names (`kinds-client.ts`). `of` makes that of a kind. */
export function createInformerOfKinds<O extends WorkObject>(kind: WorkKind<O>, of: (kind: SingleKind<O>) => Informer<O>): Informer<O> {
  const jobs = of(kind.of(undefined));
  if (kind.others.length === 0) return jobs;
  const others = kind.others.map((other) => [qualifierOf(other.resource) ?? '', of(other as unknown as SingleKind<O>)] as const);
  return createInformerOfParts(
    kind.resource as Resource<O>,
    new Map([['', jobs], ...others]),
    ({ name }) => parseQualifiedName(name).qualifier ?? '',
  );
}
