import type { DeepReadonly, Unsaved, WorkObject } from '../../../shared/api/kubernetes.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { parseRequests } from '../../api/amount.ts';
import { excess } from '../../api/job-requests.ts';
import { DispatchedReason } from '../../api/reasons.ts';
import { flavorsIn, type AdmissionRecord } from '../../api/records.ts';
import type { DispatchProblem } from '../../api/refusals.ts';
import { absence, type MirrorGroup, viewOfPlace } from '../mirror/mirror-group.ts';
import type { CopyOptions } from '../../work-kind/copy-options.ts';
import { requestsOf, type PodSet } from '../../work-kind/pod-sets.ts';

/** The desired copy, or why there can be none: its requests never exceed the record. */
export function wantedCopy(
  group: MirrorGroup,
  local: DeepReadonly<WorkObject>,
  record: AdmissionRecord,
): Unsaved<WorkObject> | DispatchProblem {
  const cluster = viewOfPlace(group);
  if (cluster === undefined) return absence(group, record);
  const names = flavorsIn(record);
  const missing = names.find((name) => group.flavors.get(name) === undefined);
  if (missing !== undefined) {
    return { reason: DispatchedReason.ResourceFlavorNotFound, message: `ResourceFlavor "${missing}" of the admission does not exist` };
  }
  if (group.unresolved !== undefined) return { reason: DispatchedReason.AdmissionUnresolved, message: group.unresolved };
  const part = group.kind.admittedPart(local, record);
  const podSets = group.kind.podSets(part);
  const asked = requestsOf(podSets);
  if (asked.problem !== undefined) return { reason: DispatchedReason.ExceedsReservation, message: asked.problem };
  const more = excess(asked.requests, parseRequests(record.requests)) ?? excessOfPodSets(podSets, record);
  if (more !== undefined) {
    const message = `the Job asks for ${more} more than it was admitted with, and waits to be admitted anew`;
    return { reason: DispatchedReason.ExceedsReservation, message };
  }
  return group.kind.copies.of(part, {
    origin: group.origin,
    epoch: record.epoch,
    jobController: cluster.jobController,
    local: cluster.local,
    flavors: flavorsOf(group, record.flavors),
    ...omitUndefined({
      podSetFlavors: record.podSets && new Map(record.podSets.map(({ name, flavors }) => [name, flavorsOf(group, flavors)])),
      fenced: record.unfenced !== true,
      tracing: group.tracing,
      podFence: record.podFence === undefined ? undefined : { image: group.podFenceImage, afterSeconds: record.podFence },
    }),
  });
}

const flavorsOf = ({ flavors }: MirrorGroup, byResource: AdmissionRecord['flavors']): CopyOptions['flavors'] =>
  [...new Set(Object.values(byResource))].toSorted().flatMap((name) => flavors.get(name) ?? []);

/** By how much some pod set exceeds what it was admitted with. */
function excessOfPodSets(podSets: readonly PodSet[], { podSets: admitted }: AdmissionRecord): string | undefined {
  for (const podSet of admitted === undefined ? [] : podSets) {
    const allowed = admitted?.find(({ name }) => name === podSet.name)?.requests ?? {};
    const more = excess(requestsOf([podSet]).requests, parseRequests(allowed));
    if (more !== undefined) return more;
  }
  return undefined;
}
