import type { JobCondition, Job, NamespacedMeta } from '../../../../shared/api/kubernetes.ts';
import { apiVersionOf, type Resource } from '../../../../shared/api/resources.ts';

/** A JobSet, as far as the operator of the quick start knows it. */
export type JobSet = {
  apiVersion?: string;
  kind?: string;
  metadata: NamespacedMeta;
  spec: { suspend?: boolean; managedBy?: string; replicatedJobs?: ReplicatedJob[] };
  status?: JobSetStatus;
};
export type ReplicatedJob = {
  name: string;
  replicas?: number;
  template: { metadata?: { labels?: Record<string, string>; annotations?: Record<string, string> }; spec: Job['spec'] };
};
export type JobSetStatus = {
  conditions?: JobCondition[];
  replicatedJobsStatus?: ReplicatedJobStatus[];
  terminalState?: 'Completed' | 'Failed';
};
/** Numbers of child Jobs, not of pods. */
export type ReplicatedJobStatus = {
  readonly name: string;
  readonly active: number;
  readonly failed: number;
  readonly ready: number;
  readonly succeeded: number;
  readonly suspended: number;
};

export const JOB_SETS: Resource<JobSet> = {
  group: 'jobset.x-k8s.io',
  version: 'v1alpha2',
  plural: 'jobsets',
  kind: 'JobSet',
  namespaced: true,
};
export const JOB_SET_API_VERSION = apiVersionOf(JOB_SETS);

const count = { type: 'integer', format: 'int32', minimum: 0 };
const text = { type: 'string' };

const replicatedJob = {
  type: 'object',
  required: ['name', 'template'],
  properties: {
    name: { ...text, minLength: 1, maxLength: 63, pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$' },
    replicas: { ...count, default: 1 },
    template: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  },
};

const condition = {
  type: 'object',
  required: ['type', 'status', 'reason', 'message', 'lastTransitionTime'],
  properties: {
    type: text,
    status: { ...text, enum: ['True', 'False', 'Unknown'] },
    reason: text,
    message: text,
    lastTransitionTime: { ...text, format: 'date-time' },
    observedGeneration: { type: 'integer', format: 'int64', minimum: 0 },
  },
};

const counted = ['active', 'failed', 'ready', 'succeeded', 'suspended'] as const;
const replicatedJobStatus = {
  type: 'object',
  required: ['name', ...counted],
  properties: { name: text, ...Object.fromEntries(counted.map((name) => [name, count])) },
};

const mapOf = (items: object, key: string): object => ({
  type: 'array',
  items,
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': [key],
});

/** `spec.managedBy` is immutable, as JobSet's webhook has it. */
const MANAGED_BY_RULE = {
  rule: 'has(self.managedBy) == has(oldSelf.managedBy) && (!has(self.managedBy) || self.managedBy == oldSelf.managedBy)',
  message: 'managedBy is immutable',
};

/**
 * A small definition of JobSet: the fields by which JobSets are suspended, dispatched and counted, after the documentation of
 * jobset.x-k8s.io/v1alpha2. Fields of features that the operator here has not are unknown, so that kubectl refuses them by name.
 */
export const JOB_SET_DEFINITION = {
  metadata: { name: `${JOB_SETS.plural}.${JOB_SETS.group}` },
  spec: {
    group: JOB_SETS.group,
    scope: 'Namespaced',
    names: { plural: JOB_SETS.plural, singular: 'jobset', kind: JOB_SETS.kind, listKind: `${JOB_SETS.kind}List` },
    versions: [
      {
        name: JOB_SETS.version,
        served: true,
        storage: true,
        subresources: { status: {} },
        additionalPrinterColumns: [
          { name: 'TerminalState', type: 'string', jsonPath: '.status.terminalState' },
          { name: 'Suspended', type: 'string', jsonPath: '.spec.suspend' },
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
        schema: {
          openAPIV3Schema: {
            type: 'object',
            properties: {
              spec: {
                type: 'object',
                properties: { suspend: { type: 'boolean' }, managedBy: text, replicatedJobs: mapOf(replicatedJob, 'name') },
                'x-kubernetes-validations': [MANAGED_BY_RULE],
              },
              status: {
                type: 'object',
                properties: {
                  conditions: mapOf(condition, 'type'),
                  replicatedJobsStatus: mapOf(replicatedJobStatus, 'name'),
                  terminalState: text,
                },
              },
            },
          },
        },
      },
    ],
  },
};
