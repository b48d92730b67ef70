import { createHash } from 'node:crypto';
import type { ServedResource, ServedResources } from '../resources/served-resources.ts';
import type { Subresource } from '../endpoints/subresource.ts';

/** One line of discovery: a resource or one of its subresources. */
export type DiscoveredResource = {
  /** `pods`, or `pods/status`. */
  readonly name: string;
  readonly singularName: string;
  readonly namespaced: boolean;
  /** Kind of the bodies, with its group and version where they are not those of the path. */
  readonly kind: string;
  readonly group?: string;
  readonly version?: string;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly storageVersionHash?: string;
  readonly custom: boolean;
};

export type DiscoveredVersion = { readonly group: string; readonly version: string; readonly resources: readonly DiscoveredResource[] };
export type DiscoveredGroup = { readonly name: string; readonly versions: readonly DiscoveredVersion[] };

/** Groups in the order of kube-apiserver's priorities; those of custom resources follow by name. */
const GROUP_ORDER: readonly string[] = [
  '',
  'apps',
  'events.k8s.io',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'autoscaling',
  'batch',
  'networking.k8s.io',
  'policy',
  'rbac.authorization.k8s.io',
  'storage.k8s.io',
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'scheduling.k8s.io',
  'coordination.k8s.io',
  'node.k8s.io',
];

/** What is served at the moment, as discovery lists it. */
export function discoveredGroups(resources: ServedResources, subresources: readonly Subresource[]): DiscoveredGroup[] {
  const byVersion = new Map<string, { group: string; version: string; entries: DiscoveredResource[] }>();
  const entriesOf = (group: string, version: string): DiscoveredResource[] => {
    const key = `${group}/${version}`;
    const found = byVersion.get(key) ?? { group, version, entries: [] };
    byVersion.set(key, found);
    return found.entries;
  };
  for (const resource of resources.all()) {
    const { group, version } = resource.definition;
    entriesOf(group, version).push(...entriesOfResource(resource, subresources));
  }
  for (const special of subresources.filter(({ subresource, group }) => subresource === '' && group !== '*')) {
    const entries = entriesOf(special.group, special.version);
    if (!entries.some(({ name }) => name === special.resource)) entries.push(virtualResource(special));
  }
  return groupVersions([...byVersion.values()].map(({ group, version, entries }) => ({ group, version, resources: entries.sort(byName) })));
}

const byName = (left: DiscoveredResource, right: DiscoveredResource): number => (left.name < right.name ? -1 : 1);

function groupVersions(versions: readonly DiscoveredVersion[]): DiscoveredGroup[] {
  const names = [...new Set(versions.map(({ group }) => group))].sort((left, right) => {
    const [ofLeft, ofRight] = [rank(left), rank(right)];
    return ofLeft === ofRight ? (left < right ? -1 : 1) : ofLeft - ofRight;
  });
  return names.map((name) => ({
    name,
    versions: versions.filter(({ group }) => group === name).sort((left, right) => compareVersions(left.version, right.version)),
  }));
}

const rank = (group: string): number => (GROUP_ORDER.includes(group) ? GROUP_ORDER.indexOf(group) : GROUP_ORDER.length);

const VERSION = /^v(\d+)(?:(alpha|beta)(\d+))?$/;

/** Kubernetes' order of versions, best first: stable before beta before alpha, higher numbers before lower ones. */
export function compareVersions(left: string, right: string): number {
  const [ofLeft, ofRight] = [versionRank(left), versionRank(right)];
  if (ofLeft === undefined || ofRight === undefined) {
    return ofLeft === ofRight ? (left < right ? -1 : 1) : ofLeft === undefined ? 1 : -1;
  }
  const at = ofLeft.findIndex((part, index) => part !== ofRight[index]);
  return at < 0 ? 0 : (ofRight[at] ?? 0) - (ofLeft[at] ?? 0);
}

/** Stability, major and minor number; undefined for names that are no version. */
function versionRank(version: string): [number, number, number] | undefined {
  const match = VERSION.exec(version);
  if (match === null) return undefined;
  const stability = match[2] === undefined ? 2 : match[2] === 'beta' ? 1 : 0;
  return [stability, Number(match[1]), Number(match[3] ?? 0)];
}

function entriesOfResource(resource: ServedResource, subresources: readonly Subresource[]): DiscoveredResource[] {
  const { definition, custom } = resource;
  const { group, version, plural, singular, kind, namespaced, shortNames, categories, strategy } = definition;
  const own = { namespaced, kind, custom };
  const main = {
    ...own,
    name: plural,
    singularName: singular,
    verbs: verbsOf(resource),
    shortNames,
    categories,
    storageVersionHash: hashOf(definition),
  };
  const below = { singularName: '', shortNames: [], categories: [] };
  const status = { ...own, ...below, name: `${plural}/status`, verbs: ['get', 'patch', 'update'] };
  const special = subresources
    .filter((each) => each.subresource !== '' && each.group === group && each.version === version && each.resource === plural)
    .map((each) => ({
      ...own,
      ...below,
      name: `${plural}/${each.subresource}`,
      verbs: verbsOfMethods(each),
      ...SUBRESOURCE_KINDS[`${plural}/${each.subresource}`],
    }));
  const scale = { ...status, name: `${plural}/scale`, ...SCALE_KIND };
  return [main, ...(strategy.status === undefined ? [] : [status]), ...(strategy.hasScale === true ? [scale] : []), ...special];
}

const SCALE_KIND = { group: 'autoscaling', version: 'v1', kind: 'Scale' };
const BUILT_IN_VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const CUSTOM_VERBS = ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'];

function verbsOf({ definition, custom }: ServedResource): readonly string[] {
  if (custom) return CUSTOM_VERBS;
  const isNamespace = definition.group === '' && definition.plural === 'namespaces';
  return isNamespace ? BUILT_IN_VERBS.filter((verb) => verb !== 'deletecollection') : BUILT_IN_VERBS;
}

const METHOD_VERBS: Readonly<Record<string, string>> = { GET: 'get', POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete' };

const verbsOfMethods = ({ methods }: Subresource): string[] =>
  Object.keys(methods)
    .map((method) => METHOD_VERBS[method] ?? method.toLowerCase())
    .sort();

type ForeignKind = { readonly kind: string; readonly group?: string; readonly version?: string };

/** Subresources whose bodies are of another kind than their parent. */
const SUBRESOURCE_KINDS: Readonly<Record<string, ForeignKind>> = {
  'pods/binding': { kind: 'Binding' },
  'pods/eviction': { kind: 'Eviction', group: 'policy', version: 'v1' },
  'serviceaccounts/token': { kind: 'TokenRequest', group: 'authentication.k8s.io', version: 'v1' },
};

/** Resources of which nothing is stored, by plural name. */
const VIRTUAL_KINDS: Readonly<Record<string, { kind: string; namespaced: boolean }>> = {
  bindings: { kind: 'Binding', namespaced: true },
  localsubjectaccessreviews: { kind: 'LocalSubjectAccessReview', namespaced: true },
  selfsubjectaccessreviews: { kind: 'SelfSubjectAccessReview', namespaced: false },
  selfsubjectreviews: { kind: 'SelfSubjectReview', namespaced: false },
  selfsubjectrulesreviews: { kind: 'SelfSubjectRulesReview', namespaced: false },
  subjectaccessreviews: { kind: 'SubjectAccessReview', namespaced: false },
  tokenreviews: { kind: 'TokenReview', namespaced: false },
};

function virtualResource(special: Subresource): DiscoveredResource {
  const { kind, namespaced } = VIRTUAL_KINDS[special.resource] ?? { kind: special.resource, namespaced: false };
  const verbs = verbsOfMethods(special);
  return {
    name: special.resource,
    singularName: kind.toLowerCase(),
    namespaced,
    kind,
    verbs,
    shortNames: [],
    categories: [],
    custom: false,
  };
}

const HASH_BYTES = 8;

/** discovery.StorageVersionHash: names the stored form of the resource. */
const hashOf = ({ group, version, kind }: { group: string; version: string; kind: string }): string =>
  createHash('sha256').update(`${group}/${version}/${kind}`).digest().subarray(0, HASH_BYTES).toString('base64');
