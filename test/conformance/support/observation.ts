import type { CoreEvent, Job, Pod } from '../../../shared/api/kubernetes.ts';
import {
  JOB_COMPLETION_INDEX,
  JOB_INDEX_FAILURE_COUNT_ANNOTATION,
  JOB_INDEX_IGNORED_FAILURE_COUNT_ANNOTATION,
  JOB_TRACKING_FINALIZER,
} from '../../../shared/api/names.ts';

/** Replaces what depends on the run (pod names, namespace, UIDs) by placeholders. */
export type Clean = (text: string) => string;

export function createClean(namespace: string, jobName: string, podNames: ReadonlySet<string>): Clean {
  const generated = new RegExp(`\\b${jobName}(-\\d+)?-[a-z0-9]{5}\\b`, 'g');
  return (text) => {
    let cleaned = text;
    for (const name of [...podNames].toSorted((a, b) => b.length - a.length)) cleaned = cleaned.replaceAll(name, '<pod>');
    return cleaned
      .replaceAll(namespace, '<ns>')
      .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uid>')
      .replace(generated, '<pod>');
  };
}

/** A Job as the recordings show it. */
export function observeJob(job: Job | undefined, clean: Clean): unknown {
  if (job === undefined) return 'absent';
  const status = job.status ?? {};
  const seen: Record<string, unknown> = {};
  for (const field of ['active', 'ready', 'terminating', 'succeeded', 'failed'] as const) if (status[field]) seen[field] = status[field];
  for (const field of ['completedIndexes', 'failedIndexes'] as const) if (status[field] !== undefined) seen[field] = status[field];
  const succeeded = status.uncountedTerminatedPods?.succeeded?.length ?? 0;
  const failed = status.uncountedTerminatedPods?.failed?.length ?? 0;
  if (succeeded + failed > 0) seen['uncounted'] = { succeeded, failed };
  seen['started'] = status.startTime !== undefined;
  if (status.completionTime) seen['completed'] = true;
  seen['conditions'] = (status.conditions ?? [])
    .map(
      ({ type, status: value, reason, message }) => `${type}=${value}${reason ? ` ${reason}` : ''}${message ? `: ${clean(message)}` : ''}`,
    )
    .toSorted();
  if (job.metadata.deletionTimestamp) seen['deleting'] = (job.metadata.finalizers ?? []).toSorted();
  return seen;
}

/** Pods as a multiset of what matters about each. */
export function observePods(pods: readonly Pod[]): Record<string, number> {
  const counts = new Map<string, number>();
  for (const pod of pods) {
    const words = podWords(pod);
    counts.set(words, (counts.get(words) ?? 0) + 1);
  }
  return Object.fromEntries([...counts].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}

export const isReady = (pod: Pod): boolean =>
  pod.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false;
export const isTracked = (pod: Pod): boolean => pod.metadata.finalizers?.includes(JOB_TRACKING_FINALIZER) ?? false;
export const indexOf = (pod: Pod): string | undefined => pod.metadata.annotations?.[JOB_COMPLETION_INDEX];

function podWords(pod: Pod): string {
  const { metadata, spec, status } = pod;
  const index = indexOf(pod);
  const failures = metadata.annotations?.[JOB_INDEX_FAILURE_COUNT_ANNOTATION];
  const ignored = metadata.annotations?.[JOB_INDEX_IGNORED_FAILURE_COUNT_ANNOTATION];
  return [
    status?.phase,
    index === undefined ? '' : `index=${index}`,
    isReady(pod) ? 'ready' : '',
    isTracked(pod) ? 'tracked' : 'untracked',
    metadata.deletionTimestamp ? 'terminating' : '',
    spec.nodeName ? 'bound' : '',
    failures === undefined ? '' : `failures=${failures}`,
    ignored === undefined ? '' : `ignored=${ignored}`,
    metadata.ownerReferences?.length ? '' : 'orphan',
  ]
    .filter(Boolean)
    .join(' ');
}

/** Everything the Job controller decides about a pod, without what differs from run to run. */
export function observePodDetail(pod: Pod, clean: Clean): unknown {
  const {
    uid: _uid,
    resourceVersion: _version,
    creationTimestamp: _created,
    managedFields: _fields,
    namespace: _ns,
    ...metadata
  } = pod.metadata;
  const ownerReferences = metadata.ownerReferences?.map(({ uid: _owner, ...reference }) => reference);
  const detail = {
    metadata: { ...metadata, ownerReferences },
    hostname: pod.spec.hostname,
    subdomain: pod.spec.subdomain,
    restartPolicy: pod.spec.restartPolicy,
    env: pod.spec.containers[0]?.env,
  };
  return JSON.parse(JSON.stringify(detail), (_key, value: unknown) => (typeof value === 'string' ? clean(value) : value));
}

/** How often each distinct Event was emitted about Jobs. */
export function observeEvents(events: readonly CoreEvent[], clean: Clean): Record<string, number> {
  const counts = new Map<string, number>();
  for (const event of events) {
    if (event.involvedObject.kind !== 'Job') continue;
    const words = `${event.type} ${event.reason}: ${clean(event.message ?? '')}`;
    counts.set(words, (counts.get(words) ?? 0) + (event.count ?? 1));
  }
  return Object.fromEntries([...counts].toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
