/** What runs where, as the pods of the worker clusters show it: nobody's word is taken for it. */
import type { Container, Job, Pod } from '../../../shared/api/kubernetes.ts';
import { FENCING_ANNOTATION, ORIGIN_NAME_ANNOTATION } from '../../../shared/api/names.ts';
import { hasTrueCondition } from '../../../shared/kube/conditions.ts';
import { parseQuantity } from '../../../shared/kube/quantity.ts';
import { controllerUidOf, hasEnded } from '../../support/invariants/invariant.ts';
import type { Change } from '../../support/cluster-history.ts';
import { originUidOf } from './marks.ts';

/** A pod that holds resources: it has not ended, though it may be on its way out. */
export type HeldPod = {
  readonly cluster: string;
  readonly pod: Pod;
  /**
   * UID of the copy that made it, of the Job that the copy is of, and whether that asks for a fence: undefined when no copy of ours made
   * it.
   */
  readonly copy: { readonly uid: string; readonly originUid: string; readonly name: string; readonly fenced: boolean } | undefined;
};

export interface YardHistory {
  observe(cluster: string, change: Change): void;
  held(): readonly HeldPod[];
  /** UIDs of the Jobs of which a pod has failed by itself or with its node, and was not deleted. */
  readonly withFailures: ReadonlySet<string>;
}

/** `describedCopy`: the copy of a described kind with this UID. */
export function createYardHistory(describedCopy: (uid: string) => HeldPod['copy'] = () => undefined): YardHistory {
  const held = new Map<string, HeldPod>();
  /** The copies of pods, by UID of the pod, also of those that are gone: a restore brings back pods that have lost their owner since. */
  const makers = new Map<string, NonNullable<HeldPod['copy']>>();
  /** By UID, those that are gone as well: pods outlive their Job. */
  const copies = new Map<string, Job>();
  const withFailures = new Set<string>();
  return {
    withFailures,
    observe(cluster, change) {
      if (change.kind === 'Job') {
        // Marks that are taken away later make it no other.
        const isOff = change.object.metadata.annotations?.[FENCING_ANNOTATION] === 'off';
        if (isOff || !copies.has(change.object.metadata.uid)) copies.set(change.object.metadata.uid, change.object);
        return;
      }
      const { uid } = change.object.metadata;
      const owner = copies.get(controllerUidOf(change.object) ?? '');
      if (owner !== undefined && hasFailed(change.object)) withFailures.add(originUidOf(owner) ?? '');
      if (change.gone || hasEnded(change.object)) held.delete(uid);
      else {
        const copy = makers.get(uid) ?? copyOf(owner) ?? describedCopy(controllerUidOf(change.object) ?? '');
        if (copy !== undefined) makers.set(uid, copy);
        held.set(uid, { cluster, pod: change.object, copy });
      }
    },
    held: () => [...held.values()],
  };
}

function copyOf(job: Job | undefined): HeldPod['copy'] {
  const originUid = job && originUidOf(job);
  if (job === undefined || originUid === undefined) return undefined;
  const { [ORIGIN_NAME_ANNOTATION]: name = job.metadata.name, [FENCING_ANNOTATION]: fencing } = job.metadata.annotations ?? {};
  return { uid: job.metadata.uid, originUid, name, fenced: fencing !== 'off' };
}

/** What is deleted, as where a Job is suspended, fails of that alone. */
const hasFailed = ({ metadata, status }: Pod): boolean =>
  (status?.phase === 'Failed' && (metadata.deletionTimestamp === undefined || hasTrueCondition(status.conditions, 'DisruptionTarget'))) ||
  (status?.containerStatuses ?? []).some(({ restartCount }) => restartCount > 0);

/** What the scheduler reserves for a pod, in nano-units by resource; `pods` is 1. Written apart from the manager's own reckoning. */
export function reservedFor({ spec }: Pod): ReadonlyMap<string, bigint> {
  const reserved = new Map<string, bigint>([['pods', ONE]]);
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === 'Always');
  const amounts = [...(spec.initContainers ?? []), ...(spec.containers ?? []), { resources: spec.resources }].flatMap(({ resources }) => [
    resources?.requests,
    resources?.limits,
  ]);
  const resources = new Set([...amounts, spec.overhead].flatMap((each) => Object.keys(each ?? {})));
  for (const resource of resources) {
    const of = (each: Pick<Container, 'resources'>): bigint =>
      nanos(each.resources?.requests?.[resource] ?? each.resources?.limits?.[resource]);
    const running = sum([...(spec.containers ?? []), ...sidecars].map(of));
    let started = 0n;
    let peak = running;
    for (const each of spec.initContainers ?? []) {
      const needs = started + of(each);
      if (each.restartPolicy === 'Always') started = needs;
      if (needs > peak) peak = needs;
    }
    const isNamed = [...(spec.containers ?? []), ...(spec.initContainers ?? [])].some(
      (each) => each.resources?.requests?.[resource] !== undefined || each.resources?.limits?.[resource] !== undefined,
    );
    // A limit of the whole pod stands for a request only where no container names one (KEP-2837).
    const podLevel = spec.resources?.requests?.[resource] ?? (isNamed ? undefined : spec.resources?.limits?.[resource]);
    reserved.set(resource, (podLevel === undefined ? peak : nanos(podLevel)) + nanos(spec.overhead?.[resource]));
  }
  return reserved;
}

const ONE = 1_000_000_000n;
const nanos = (quantity: string | number | undefined): bigint => (quantity === undefined ? 0n : parseQuantity(quantity).nanos);
const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, each) => total + each, 0n);
