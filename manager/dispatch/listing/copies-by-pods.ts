import { podIdentity } from '../../../shared/api/copy-identity.ts';
import type { DeepReadonly, Pod, WorkObject } from '../../../shared/api/kubernetes.ts';
import { PODS, UNENDED_PODS } from '../../../shared/api/resources.ts';
import type { ReadClient } from '../../../shared/kube/client.ts';
import { controllerOf } from '../../../shared/kube/controller-of.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { withDeadline } from '../../../shared/runtime/deadline.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { copyName, marksFor } from '../../work-kind/copy-marks.ts';

const PAGE = 500;
const TIMEOUT_MS = 15_000;

/**
 * The copies that unfinished pods of a cluster say they run for, by the environment of their containers, whether or not those copies still
 * exist; several pods may name the same copy. Throws where the cluster gives no answer. A pod whose operator drops the environment of its
 * template names none.
 */
export async function* copiesByPods({ client, clock, origin, local, servedNamespaces, signal }: PodsOfManager): AsyncGenerator<WorkObject> {
  for (const namespace of servedNamespaces ?? [undefined]) {
    let continueToken: string | undefined;
    do {
      const options = { fieldSelector: UNENDED_PODS, limit: PAGE, ...omitUndefined({ namespace, continueToken }) };
      const page = await withDeadline(clock, TIMEOUT_MS, signal, (each) => client.list(PODS, { ...options, signal: each }));
      for (const pod of page.items) {
        const copy = copyOf(pod, origin, local);
        if (copy !== undefined) yield copy;
      }
      continueToken = page.continueToken;
    } while (continueToken !== undefined && continueToken !== '');
  }
}

export type PodsOfManager = {
  readonly client: Pick<ReadClient, 'list'>;
  readonly clock: Clock;
  /** Id of the manager that made the copies. */
  readonly origin: string;
  /** Whether the cluster is the manager cluster, where copies have other names than their Jobs. */
  readonly local: boolean;
  readonly servedNamespaces: readonly string[] | undefined;
  readonly signal: AbortSignal;
};

/** What is known of the copy of this pod. */
function copyOf(pod: DeepReadonly<Pod>, origin: string, local: boolean): WorkObject | undefined {
  const { metadata, spec } = pod;
  const identity = podIdentity(spec);
  if (identity?.manager !== origin || identity.namespace !== metadata.namespace) return undefined;
  const { namespace, originUid, epoch } = identity;
  const name = copyName({ metadata: { name: identity.name, uid: originUid } }, local);
  const uid = controllerOf(pod)?.uid ?? '';
  const marks = marksFor({ localKey: { namespace, name: identity.name }, originUid, epoch }, origin, { name });
  return { metadata: { namespace, name, uid, resourceVersion: '', creationTimestamp: metadata.creationTimestamp, ...marks }, spec: {} };
}
