import { MANAGER_FIELD_MANAGER } from '../../shared/api/names.ts';
import { apiVersionOf, type Resource } from '../../shared/api/resources.ts';
import { toWireTime } from '../../shared/api/wire-time.ts';
import { ApiError, isAbsent, isForbidden } from '../../shared/kube/api-error.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { createInformer } from '../../shared/kube/informer.ts';
import { sleep, type Clock } from '../../shared/runtime/clock.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Random } from '../../shared/runtime/random.ts';
import { aborted } from '../../shared/runtime/tasks.ts';
import { formatProblems } from '../api/field-problem.ts';
import { isJsonObject, parseJson } from '../api/json-value.ts';
import { WORK_KINDS, type WorkKindObject } from '../api/work-kind.ts';
import { qualifierOf } from '../work-kind/qualified-name.ts';
import type { SingleKind } from '../work-kind/work-kind.ts';

/** The kinds of work that one run of the manager takes: they do not change while it runs. */
export type ReadKinds = {
  /** Those whose objects are taken, beside Jobs. */
  readonly kinds: readonly SingleKind[];
  readonly read: readonly JudgedKind[];
};

/** A WorkKind with its kind, or why its objects are not taken. */
type JudgedKind = {
  readonly object: WorkKindObject;
  readonly kind?: SingleKind;
  readonly refusal?: { readonly reason: string; readonly message: string };
};

/** The descriptions of kinds, or which of them are served, have changed: the manager begins anew with the present ones. */
export class KindsChanged extends Error {
  override readonly name = 'KindsChanged';
}

export type WorkKindsDeps = {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
};

const AGAIN_MS = 5_000;
/** A definition that is missing is looked for again after this time. */
const SERVED_AGAIN_MS = 30_000;
const KUEUES_CHECKS: Resource = {
  group: 'kueue.x-k8s.io',
  version: 'v1beta1',
  plural: 'admissionchecks',
  kind: 'AdmissionCheck',
  namespaced: false,
};
export const MULTI_KUEUE = 'kueue.x-k8s.io/multikueue';

/**
 * Reads the WorkKinds of the manager cluster. One that does not compile, whose definition is not served, or whose objects MultiKueue of
 * Kueue takes, is left out with its reason; nothing else stops. Without the CustomResourceDefinition there are Jobs alone. Asks until the
 * API server answers; undefined when `signal` aborts first.
 */
export async function readWorkKinds(deps: WorkKindsDeps, signal: AbortSignal): Promise<ReadKinds | undefined> {
  const { clock, log } = deps;
  while (!signal.aborted) {
    try {
      const read = await judged(deps, signal);
      for (const { object, refusal } of read)
        if (refusal !== undefined) log.error('a kind of work is left out', { workKind: object.metadata.name, why: refusal.message });
      return { kinds: read.flatMap(({ kind }) => kind ?? []), read };
    } catch (error) {
      if (signal.aborted) return undefined;
      log.warn('the kinds of work cannot be read yet', { error });
    }
    await sleep(clock, AGAIN_MS, signal);
  }
  return undefined;
}

async function judged(deps: WorkKindsDeps, signal: AbortSignal): Promise<readonly JudgedKind[]> {
  const { client } = deps;
  let objects: readonly WorkKindObject[];
  try {
    ({ items: objects } = await client.list(WORK_KINDS, { signal }));
  } catch (error) {
    if (isAbsent(error) || isForbidden(error)) return [];
    throw error;
  }
  if (objects.length === 0) return [];
  // The evaluator of expressions is loaded only where there are some.
  const [{ compileDescription }, { describedKind }] = await Promise.all([
    import('../work-kind/described/description.ts'),
    import('../work-kind/described/described-kind.ts'),
  ]);
  const compile: Compile = (spec) => {
    const compiled = compileDescription(spec);
    return compiled.kind === 'Refused' ? formatProblems(compiled.problems) : describedKind(compiled.description);
  };
  const all: JudgedKind[] = [];
  for (const object of objects.toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1)))
    all.push(await judge(client, compile, object, signal));
  return all;
}

/** The kind that a description says, or why it says none. */
type Compile = (spec: WorkKindObject['spec']) => SingleKind | string;

async function judge(client: KubeClient, compile: Compile, object: WorkKindObject, signal: AbortSignal): Promise<JudgedKind> {
  const refused = (reason: string, message: string): JudgedKind => ({ object, refusal: { reason, message } });
  const kind = compile(object.spec);
  if (typeof kind === 'string') return refused('Invalid', kind);
  const { resource } = kind;
  if (qualifierOf(resource) === undefined)
    return refused('Invalid', 'spec.resource: jobs of group batch need no description; delete this WorkKind');
  if (!(await isServed(client, resource, signal)))
    return refused(
      'NotServed',
      `the API server does not serve ${resource.plural} of ${apiVersionOf(resource)}; install its CustomResourceDefinition`,
    );
  const { managedBy } = object.spec;
  if (managedBy?.home === MULTI_KUEUE && (await hasMultiKueue(client, signal)))
    return refused(
      'TakenByMultiKueue',
      `spec.managedBy.home: Kueue's MultiKueue runs on this cluster and takes objects with ${MULTI_KUEUE}, so that two dispatchers would ` +
        'run each of them; delete its AdmissionChecks, or this WorkKind',
    );
  return { object, kind };
}

async function isServed(client: KubeClient, resource: Resource, signal: AbortSignal): Promise<boolean> {
  try {
    const answer = parseJson(await client.raw({ method: 'GET', path: `/apis/${apiVersionOf(resource)}`, signal }));
    const resources = isJsonObject(answer) && Array.isArray(answer['resources']) ? answer['resources'] : [];
    return resources.some((each) => isJsonObject(each) && each['name'] === resource.plural);
  } catch (error) {
    if (isAbsent(error)) return false;
    throw error;
  }
}

/** Whether Kueue on this cluster dispatches to others. Where its objects may not be read, nothing is known, and it counts as absent. */
async function hasMultiKueue(client: KubeClient, signal: AbortSignal): Promise<boolean> {
  try {
    const { items } = await client.list(KUEUES_CHECKS, { signal });
    return items.some((item) => {
      const { spec } = item as { readonly spec?: unknown };
      return isJsonObject(spec) && spec['controllerName'] === MULTI_KUEUE;
    });
  } catch (error) {
    if (error instanceof ApiError && error.code < 500) return false;
    throw error;
  }
}

/**
 * Reports on each WorkKind whether its objects are taken, and follows them.
 *
 * @throws {KindsChanged} when a WorkKind is created, changed or deleted, or the definition of one that was left out is served now.
 */
export async function followWorkKinds({ read }: ReadKinds, deps: WorkKindsDeps, signal: AbortSignal): Promise<void> {
  const { client, clock, log } = deps;
  for (const each of read) await report(deps, each);
  const changed = Promise.withResolvers<void>();
  const known = new Map(read.map(({ object }) => [object.metadata.uid, object.metadata.generation]));
  const informer = createInformer({ ...deps, resource: WORK_KINDS });
  const compare = ({
    metadata: { uid, generation },
  }: {
    readonly metadata: { readonly uid: string; readonly generation?: number };
  }): void => {
    if (known.get(uid) !== generation) changed.resolve();
  };
  informer.addHandler({ added: compare, updated: compare, deleted: () => changed.resolve() });
  const over = new AbortController();
  const until = AbortSignal.any([signal, over.signal]);
  const unserved = read.filter(({ refusal }) => refusal?.reason === 'NotServed');
  const served = async (): Promise<void> => {
    for (;;) {
      await sleep(clock, SERVED_AGAIN_MS, until);
      if (until.aborted) return;
      for (const { object } of unserved) {
        const { group, version, resource: plural, kind } = object.spec;
        const found = await isServed(client, { group, version, plural, kind, namespaced: true }, until).catch(() => false);
        if (found) return changed.resolve();
      }
    }
  };
  // The definition of WorkKinds itself may be absent.
  const hasDefinition = read.length > 0 || (await isServed(client, WORK_KINDS, signal).catch(() => false));
  const running = [...(hasDefinition ? [informer.run(until)] : []), ...(unserved.length > 0 ? [served()] : [])];
  await Promise.race([changed.promise, aborted(signal)]);
  over.abort(new Error('the kinds of work are not followed any more'));
  await Promise.all(running);
  if (signal.aborted) return;
  log.info('the kinds of work have changed; the manager begins anew with the present ones');
  throw new KindsChanged('the kinds of work have changed');
}

async function report({ client, clock, log }: WorkKindsDeps, { object, refusal }: JudgedKind): Promise<void> {
  const { name, generation } = object.metadata;
  const status = refusal === undefined ? 'True' : 'False';
  const reason = refusal?.reason ?? 'Accepted';
  const message = refusal?.message ?? 'objects of this kind are taken';
  const present = object.status?.conditions?.find(({ type }) => type === 'Accepted');
  if (present?.status === status && present.reason === reason && present.message === message) return;
  const lastTransitionTime = present?.status === status ? present.lastTransitionTime : toWireTime(clock.now());
  const condition = { type: 'Accepted', status, reason, message, lastTransitionTime, observedGeneration: generation };
  try {
    const body = { status: { conditions: [condition] } };
    await client.patchStatus(WORK_KINDS, { namespace: '', name }, { type: 'merge', body }, { fieldManager: MANAGER_FIELD_MANAGER });
  } catch (error) {
    log.warn('whether a kind of work is taken cannot be written to it', { workKind: name, error });
  }
}
