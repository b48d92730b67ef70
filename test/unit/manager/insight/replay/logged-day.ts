/** Decision logs written by hand: one queue `main`, one cluster `eu`, and what happens on a day. Times in seconds from its start. */
import { DECISION_LOG_VERSION, type LoggedObject, type LogLine } from '../../../../../manager/admission/decision-log/decision-log.ts';
import type { LoggedJob } from '../../../../../manager/admission/decision-log/logged-workload.ts';

export const DAY_MS = Date.parse('2026-01-05T00:00:00Z');
export const at = (seconds: number): number => DAY_MS + seconds * 1000;

export const aLoggedQueue = (name: string, cpu: string, spec: object = {}): LoggedObject => ({
  kind: 'ClusterQueue',
  metadata: { name },
  spec: {
    namespaceSelector: {},
    resourceGroups: [{ coveredResources: ['cpu'], flavors: [{ name: 'default', resources: [{ name: 'cpu', nominalQuota: cpu }] }] }],
    ...spec,
  },
});

const ready = { conditions: [{ type: 'Ready', status: 'True', reason: 'Connected', message: '' }] };
export const SETUP: readonly LoggedObject[] = [
  { kind: 'Namespace', metadata: { name: 'team' } },
  { kind: 'ResourceFlavor', metadata: { name: 'default' } },
  { kind: 'LocalQueue', metadata: { name: 'main', namespace: 'team' }, spec: { clusterQueue: 'main' } },
  { kind: 'WorkerCluster', metadata: { name: 'eu' }, spec: {}, status: ready },
];

/** The first section of a log. */
export const begun = (objects: readonly LoggedObject[] = [aLoggedQueue('main', '2')], jobs: readonly LogLine[] = []): LogLine[] => [
  { kind: 'log', version: DECISION_LOG_VERSION, at: at(0), because: 'start', settings: {} },
  ...[...SETUP, ...objects].map((object): LogLine => ({ kind: 'object', at: at(0), object })),
  ...jobs,
  { kind: 'whole', at: at(0) },
];

/** As on their day: by time, and by how they are written down. */
export const arrives = (seconds: number, name: string, cpu: number, parts: Partial<LoggedJob> = {}): LogLine => ({
  kind: 'job',
  at: at(seconds),
  job: `team/${name}`,
  uid: name,
  arrival: seconds * 1000 + name.charCodeAt(0),
  queue: 'main',
  created: at(seconds),
  requests: { cpu: cpu * 1000, pods: 1 },
  shape: name,
  phase: 'Pending',
  ...parts,
});

/** A pass of one cycle that admits these, and of one that finds nobody. */
export const admits = (seconds: number, ...names: readonly string[]): LogLine[] => [
  ...names.map(
    (name, index): LogLine => ({
      kind: 'cycle',
      at: at(seconds),
      cycle: 1,
      ...(index === 0 ? { first: true } : {}),
      most: 1,
      admitted: [{ job: `team/${name}`, queue: 'main', cluster: 'eu', flavors: { cpu: 'default' } }],
    }),
  ),
  { kind: 'looked', at: at(seconds), because: 'idle' },
];
export const waits = (seconds: number, name: string): LogLine[] => [
  {
    kind: 'cycle',
    at: at(seconds),
    cycle: 1,
    first: true,
    most: 1,
    waiting: [{ job: `team/${name}`, queue: 'main', reason: 'InsufficientQuota', waitsFor: 'quota', claim: 'eu' }],
  },
  { kind: 'looked', at: at(seconds), because: 'idle' },
];
export const ends = (seconds: number, name: string, how: 'Finished' | 'Deleted' = 'Finished'): LogLine => ({
  kind: 'end',
  at: at(seconds),
  job: `team/${name}`,
  how,
});
