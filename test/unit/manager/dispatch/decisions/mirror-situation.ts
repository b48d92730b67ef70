/** A Job, its copies and the clusters that it has to do with, and what is decided of them: for the tests of decideMirror. */
import { decideMirror } from '../../../../../manager/dispatch/decisions/decide-mirror.ts';
import type { MirrorPlan } from '../../../../../manager/dispatch/decisions/mirror-plan.ts';
import { recordIn, type ClusterView, type Copy, type MirrorGroup } from '../../../../../manager/dispatch/mirror/mirror-group.ts';
import { recordedPlace } from '../../../../../manager/dispatch/mirror/recorded-place.ts';
import type { ParsedRecord } from '../../../../../manager/api/records.ts';
import { remoteJob } from '../../../../../manager/work-kind/job/copy/remote-job.ts';
import type { Job, JobStatus } from '../../../../../shared/api/kubernetes.ts';
import { aCondition, recordOn } from '../../../../support/jobs.ts';
import { JOB_KIND } from '../../../../../manager/work-kind/job/job-kind.ts';

export const NOW = Date.parse('2026-01-01T01:00:00Z');
export const CLUSTER: ClusterView = {
  contact: 'Ready',
  jobController: 'switchyard.dev/worker',
  local: false,
  problem: undefined,
  doubt: { kind: 'None' },
  untouchedSinceMs: undefined,
};
export const CONNECTING: ClusterView = { ...CLUSTER, contact: 'Connecting' };
export const LOST: ClusterView = { ...CLUSTER, contact: 'Lost' };

export const groupOf = (
  local: Job | undefined,
  copies: readonly Copy[],
  clusters: Record<string, ClusterView> = {},
  parts: Partial<MirrorGroup> = {},
): MirrorGroup => {
  const record: ParsedRecord = local === undefined ? { kind: 'None' } : recordOn(local);
  const last = recordIn(record);
  const views = new Map(Object.entries({ 'eu-1': CLUSTER, 'us-2': CLUSTER, ...clusters }));
  const known = { has: (name: string) => views.has(name), uidOf: () => undefined, nameOf: () => undefined };
  return {
    kind: JOB_KIND,
    local,
    record,
    unresolved: undefined,
    copies,
    place: last && recordedPlace(last, known),
    clusters: views,
    flavors: new Map(),
    origin: 'm1',
    podFenceImage: 'fence:1',
    ...parts,
  };
};
export const plan = (...situation: Parameters<typeof groupOf>): MirrorPlan => decideMirror(groupOf(...situation), NOW);

export const copyOn = (
  cluster: string,
  local: Job,
  parts: { epoch?: number; status?: JobStatus; suspend?: boolean; deleting?: boolean } = {},
): Copy => {
  const made = remoteJob(local, {
    origin: 'm1',
    epoch: parts.epoch ?? 1,
    jobController: 'switchyard.dev/worker',
    local: false,
    flavors: [],
  });
  const job: Job = {
    ...made,
    metadata: {
      ...made.metadata,
      name: 'sum',
      namespace: 'team',
      uid: `copy-${cluster}`,
      resourceVersion: '5',
      creationTimestamp: '2026-01-01T00:00:00Z',
    },
    spec: { ...made.spec, suspend: parts.suspend ?? false },
    status: parts.status ?? {},
  };
  return { cluster, job, deleting: parts.deleting ?? false };
};

/** `Create eu-1`, `Delete us-2`. */
export const actions = ({ remote }: MirrorPlan): string[] => remote.map(({ kind, cluster }) => `${kind} ${cluster}`);
export const conditionsHome = ({ home }: MirrorPlan): string[] =>
  home.kind !== 'WriteStatus' ? [] : (home.status.conditions ?? []).map(({ type, status, reason }) => `${type}=${status} ${reason}`);

export const COMPLETE: JobStatus = {
  startTime: '2026-01-01T00:00:10Z',
  completionTime: '2026-01-01T00:02:00Z',
  succeeded: 1,
  conditions: [aCondition('SuccessCriteriaMet'), aCondition('Complete')],
};
export const DISPATCHED = aCondition('Dispatched', { reason: 'Dispatched', message: 'dispatched to cluster "eu-1" (placement 1)' });
export const RESERVED = aCondition('QuotaReserved', { reason: 'QuotaReserved' });
