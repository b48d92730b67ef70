import type { ResourceDefinition, ResourceStrategy } from '../strategy.ts';
import { jobStrategy } from './job-strategy.ts';

type Description = {
  readonly group?: string;
  readonly version?: string;
  readonly kind: string;
  readonly plural: string;
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
  readonly clusterScoped?: true;
  readonly strategy: ResourceStrategy;
};

const resource = (description: Description): ResourceDefinition => ({
  group: description.group ?? '',
  version: description.version ?? 'v1',
  plural: description.plural,
  singular: description.kind.toLowerCase(),
  kind: description.kind,
  listKind: `${description.kind}List`,
  shortNames: description.shortNames ?? [],
  categories: description.categories ?? [],
  namespaced: description.clusterScoped !== true,
  strategy: description.strategy,
});

const withStatus: ResourceStrategy = {
  status: { prepareForUpdate: () => undefined, validateUpdate: () => [] },
};

/** The kinds that exist without any CustomResourceDefinition, apart from those of authorization and extension. */
export const BUILT_IN_RESOURCES: readonly ResourceDefinition[] = [
  resource({ kind: 'ConfigMap', plural: 'configmaps', shortNames: ['cm'], strategy: {} }),
  resource({ kind: 'Event', plural: 'events', shortNames: ['ev'], strategy: {} }),
  resource({ kind: 'LimitRange', plural: 'limitranges', shortNames: ['limits'], strategy: {} }),
  resource({ kind: 'Namespace', plural: 'namespaces', shortNames: ['ns'], clusterScoped: true, strategy: withStatus }),
  resource({ kind: 'Node', plural: 'nodes', shortNames: ['no'], clusterScoped: true, strategy: withStatus }),
  resource({ kind: 'Pod', plural: 'pods', shortNames: ['po'], categories: ['all'], strategy: withStatus }),
  resource({ kind: 'ResourceQuota', plural: 'resourcequotas', shortNames: ['quota'], strategy: withStatus }),
  resource({ kind: 'Secret', plural: 'secrets', strategy: {} }),
  resource({ kind: 'ServiceAccount', plural: 'serviceaccounts', shortNames: ['sa'], strategy: {} }),
  resource({ group: 'batch', kind: 'CronJob', plural: 'cronjobs', shortNames: ['cj'], categories: ['all'], strategy: withStatus }),
  resource({ group: 'batch', kind: 'Job', plural: 'jobs', categories: ['all'], strategy: jobStrategy }),
  resource({ group: 'coordination.k8s.io', kind: 'Lease', plural: 'leases', strategy: { allowCreateOnUpdate: true } }),
  resource({ group: 'events.k8s.io', kind: 'Event', plural: 'events', shortNames: ['ev'], strategy: {} }),
  resource({ group: 'policy', kind: 'PodDisruptionBudget', plural: 'poddisruptionbudgets', shortNames: ['pdb'], strategy: withStatus }),
  resource({
    group: 'scheduling.k8s.io',
    kind: 'PriorityClass',
    plural: 'priorityclasses',
    shortNames: ['pc'],
    clusterScoped: true,
    strategy: {},
  }),
];
