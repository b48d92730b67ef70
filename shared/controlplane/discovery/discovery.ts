import { type Answer, jsonAnswer, pageNotFound } from '../request/answer.ts';
import { type DiscoveredGroup, type DiscoveredResource, type DiscoveredVersion, discoveredGroups } from './api-groups.ts';
import type { Call } from '../request/call.ts';
import { negotiate } from '../request/negotiation.ts';
import { type ApiRequest, headerOf } from '../request/request.ts';
import type { ServedResources } from '../resources/served-resources.ts';
import { methodNotAllowedOnPath, pathNotFound } from '../apimachinery/status-error.ts';
import type { Subresource } from '../endpoints/subresource.ts';
import { omitUndefined } from '../../runtime/omit-undefined.ts';

/**
 * Answers /api, /apis and what lies directly below: the legacy documents, and the aggregated ones
 * (apidiscovery.k8s.io) for clients that accept them. Undefined: not a path of discovery.
 */
export function createDiscovery(resources: ServedResources, subresources: readonly Subresource[]): (call: Call) => Answer | undefined {
  // Kept until a CustomResourceDefinition changes what is served.
  let known: Known = { generation: -1, groups: [], aggregated: new Map() };
  const current = (): Known => {
    const generation = resources.generation();
    if (known.generation !== generation) known = { generation, groups: discoveredGroups(resources, subresources), aggregated: new Map() };
    return known;
  };

  return ({ info, request }) => {
    const [root, group, version, ...rest] = info.path.split('/').filter((part) => part !== '');
    if ((root !== 'api' && root !== 'apis') || rest.length > 0) return undefined;
    if (request.method !== 'GET' && request.method !== 'HEAD') throw methodNotAllowedOnPath();
    if (root === 'api')
      return group === undefined
        ? coreVersions(current(), request)
        : version === undefined
          ? resourceList(current().groups, '', group, request)
          : undefined;
    if (group === undefined) return allGroups(current(), request);
    const { groups } = current();
    return version === undefined ? oneGroup(groups, group, request) : resourceList(groups, group, version, request);
  };
}

/** What was served last, and the aggregated documents that somebody has asked for since: controllers ask again and again. */
type Known = { readonly generation: number; readonly groups: readonly DiscoveredGroup[]; readonly aggregated: Map<string, string> };

const isCore = ({ name }: DiscoveredGroup): boolean => name === '';

function coreVersions(known: Known, request: ApiRequest): Answer {
  const aggregated = aggregatedVersion(request);
  if (aggregated !== undefined) return aggregatedAnswer(known, 'core', aggregated);
  const serverAddressByClientCIDRs = [{ clientCIDR: '0.0.0.0/0', serverAddress: headerOf(request, 'host') }];
  return legacyAnswer({ kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs }, request, true);
}

function allGroups(known: Known, request: ApiRequest): Answer {
  const aggregated = aggregatedVersion(request);
  if (aggregated !== undefined) return aggregatedAnswer(known, 'named', aggregated);
  const named = known.groups.filter((group) => !isCore(group));
  return legacyAnswer({ kind: 'APIGroupList', apiVersion: 'v1', groups: named.map(groupBody) }, request, false);
}

function oneGroup(groups: readonly DiscoveredGroup[], name: string, request: ApiRequest): Answer {
  const found = groups.find((group) => group.name === name);
  if (found === undefined || isCore(found)) return pageNotFound();
  return legacyAnswer({ kind: 'APIGroup', apiVersion: 'v1', ...groupBody(found) }, request, false);
}

function groupBody({ name, versions }: DiscoveredGroup): object {
  const listed = versions.map(({ version }) => ({ groupVersion: `${name}/${version}`, version }));
  return { name, versions: listed, preferredVersion: listed[0] };
}

/** Below a group of CustomResourceDefinitions an unknown version gets plain text, elsewhere a Status. */
function resourceList(groups: readonly DiscoveredGroup[], group: string, version: string, request: ApiRequest): Answer {
  const ofGroup = groups.find(({ name }) => name === group);
  const found = ofGroup?.versions.find((each) => each.version === version);
  if (found === undefined) {
    const isBuiltIn = ofGroup?.versions.some(({ resources }) => resources.some(({ custom }) => !custom)) === true;
    if (!isBuiltIn) return pageNotFound();
    throw pathNotFound();
  }
  const groupVersion = group === '' ? version : `${group}/${version}`;
  const routed = found.resources.some(({ custom }) => !custom);
  const body = { kind: 'APIResourceList', apiVersion: 'v1', groupVersion, resources: found.resources.map(legacyResource) };
  return legacyAnswer(body, request, routed);
}

const legacyResource = (resource: DiscoveredResource): object => ({
  name: resource.name,
  singularName: resource.singularName,
  namespaced: resource.namespaced,
  ...(resource.group === undefined ? {} : { group: resource.group, version: resource.version }),
  kind: resource.kind,
  verbs: resource.verbs,
  ...(resource.shortNames.length === 0 ? {} : { shortNames: resource.shortNames }),
  ...(resource.categories.length === 0 ? {} : { categories: resource.categories }),
  ...omitUndefined({ storageVersionHash: resource.storageVersionHash }),
});

/** `routed`: by go-restful, which checks the Accept header in its own words. The aggregator answers for the groups. */
function legacyAnswer(body: object, request: ApiRequest, routed: boolean): Answer {
  const { format } = negotiate(headerOf(request, 'accept'), { builtIn: routed, ofList: false, transforms: false });
  return jsonAnswer(200, JSON.stringify(body), format);
}

type AggregatedVersion = 'v2' | 'v2beta1';

/** The version of apidiscovery.k8s.io that the client prefers to plain JSON; undefined if it wants the legacy document. */
function aggregatedVersion(request: ApiRequest): AggregatedVersion | undefined {
  for (const clause of headerOf(request, 'accept').split(',')) {
    const [mediaType = '', ...parameters] = clause.split(';').map((part) => part.trim());
    const isJson = ['application/json', 'application/*', '*/*'].includes(mediaType);
    if (!isJson) continue;
    const value = (name: string): string | undefined => parameters.find((each) => each.startsWith(`${name}=`))?.slice(name.length + 1);
    if (value('as') === undefined) return undefined;
    const version = value('v');
    const isDiscovery = value('as') === 'APIGroupDiscoveryList' && value('g') === 'apidiscovery.k8s.io';
    if (isDiscovery && (version === 'v2' || version === 'v2beta1')) return version;
  }
  return undefined;
}

function aggregatedAnswer({ groups, aggregated }: Known, which: 'core' | 'named', version: AggregatedVersion): Answer {
  const document = `${which} ${version}`;
  const text =
    aggregated.get(document) ??
    aggregatedText(
      groups.filter((group) => isCore(group) === (which === 'core')),
      version,
    );
  aggregated.set(document, text);
  return jsonAnswer(200, text, 'json', `application/json;g=apidiscovery.k8s.io;v=${version};as=APIGroupDiscoveryList`);
}

function aggregatedText(groups: readonly DiscoveredGroup[], version: AggregatedVersion): string {
  const items = groups.map(({ name, versions }) => ({
    metadata: name === '' ? {} : { name },
    versions: versions.map(aggregatedGroupVersion),
  }));
  return JSON.stringify({ kind: 'APIGroupDiscoveryList', apiVersion: `apidiscovery.k8s.io/${version}`, metadata: {}, items });
}

function aggregatedGroupVersion({ group, version, resources }: DiscoveredVersion): object {
  const main = resources.filter(({ name }) => !name.includes('/'));
  return {
    version,
    resources: main.map((resource) => {
      const subresources = resources.filter(({ name }) => name.startsWith(`${resource.name}/`));
      return {
        resource: resource.name,
        responseKind: responseKind(resource, group, version),
        scope: resource.namespaced ? 'Namespaced' : 'Cluster',
        singularResource: resource.singularName,
        verbs: resource.verbs,
        ...(resource.shortNames.length === 0 ? {} : { shortNames: resource.shortNames }),
        ...(resource.categories.length === 0 ? {} : { categories: resource.categories }),
        ...(subresources.length === 0
          ? {}
          : { subresources: subresources.map((each) => aggregatedSubresource(each, resource, group, version)) }),
      };
    }),
    freshness: 'Current',
  };
}

const aggregatedSubresource = (subresource: DiscoveredResource, parent: DiscoveredResource, group: string, version: string): object => ({
  subresource: subresource.name.slice(parent.name.length + 1),
  responseKind: responseKind(subresource, group, version),
  verbs: subresource.verbs,
});

/** Built-in kinds leave group and version empty: they are those of the path. */
const responseKind = (resource: DiscoveredResource, group: string, version: string): object =>
  resource.custom
    ? { group: resource.group ?? group, version: resource.version ?? version, kind: resource.kind }
    : { group: resource.group ?? '', version: resource.version ?? '', kind: resource.kind };
