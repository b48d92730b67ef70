import type { Answer } from '../request/answer.ts';
import { pageNotFound } from '../request/answer.ts';
import type { Call, Handler } from '../request/call.ts';
import { patchObject } from './patch-handler.ts';
import {
  createObject,
  deleteCollection,
  deleteObject,
  getObject,
  type HandlerDeps,
  listObjects,
  updateObject,
  watchObjects,
} from './resource-handlers.ts';
import type { ServedResource, ServedResources } from '../resources/served-resources.ts';
import { methodNotAllowed, methodNotAllowedOnPath, notFound, pathNotFound } from '../apimachinery/status-error.ts';
import type { Subresource } from './subresource.ts';

export type RouterDeps = HandlerDeps & {
  readonly resources: ServedResources;
  readonly subresources: readonly Subresource[];
  /** Documents and checks outside the resources: discovery, OpenAPI, health, version. Undefined: no such path. */
  readonly document: (call: Call) => Promise<Answer> | Answer | undefined;
};

/** Finds who answers a request. Throws 404 and 405 as upstream words them for this place. */
export function createRouter(deps: RouterDeps): Handler {
  const subresources = new Map(deps.subresources.map((each) => [keyOf(each), each]));

  return (call) => {
    const { info } = call;
    if (!info.isResourceRequest) return deps.document(call) ?? pageNotFound();
    const resource = deps.resources.find(info.group, info.version, info.resource);
    const special =
      subresources.get(keyOf(info)) ?? (info.subresource === '' ? undefined : commonSubresource(subresources, resource, info));
    if (special !== undefined) return callSpecial(special, call, resource);
    if (resource === undefined) return unknownResource(deps, info.group);
    const hasSubresource = info.subresource === '' || (info.subresource === 'status' && resource.definition.strategy.status !== undefined);
    if (!hasSubresource) throw resource.custom ? notFound(resource.groupResource, info.name) : pathNotFound();
    if (!resource.definition.namespaced && info.namespace !== '' && info.resource !== 'namespaces') return unknownScope(resource);
    if (resource.custom) return callCustomResource(deps, call, resource);
    return callResource(deps, call, resource);
  };
}

const keyOf = (of: { group: string; version: string; resource: string; subresource: string }): string =>
  `${of.group}/${of.version}/${of.resource}/${of.subresource}`;

/** Scale is registered for all kinds that have it, with `*` for group, version and resource. */
const commonSubresource = (
  subresources: ReadonlyMap<string, Subresource>,
  resource: ServedResource | undefined,
  info: { subresource: string },
): Subresource | undefined =>
  resource?.custom === true || resource?.definition.strategy.hasScale === true
    ? subresources.get(keyOf({ group: '*', version: '*', resource: '*', subresource: info.subresource }))
    : undefined;

function callSpecial(special: Subresource, call: Call, resource: ServedResource | undefined): Promise<Answer> | Answer {
  const handler = special.methods[call.request.method];
  if (handler === undefined) throw resource?.custom === true ? refusedMethod(call, resource) : methodNotAllowedOnPath();
  if (resource?.definition.strategy.warningOnUse !== undefined) call.warn(resource.definition.strategy.warningOnUse);
  return handler(call, resource);
}

/** Below a built-in group an unknown path gets a Status, elsewhere plain text. */
function unknownResource({ resources, subresources }: RouterDeps, group: string): Answer {
  const builtIn = resources.all().some(({ custom, definition }) => !custom && definition.group === group);
  if (builtIn || subresources.some((each) => each.group === group)) throw pathNotFound();
  return pageNotFound();
}
const unknownScope = (resource: ServedResource): Answer => {
  if (resource.custom) return pageNotFound();
  throw pathNotFound();
};

/** What holds for custom resources alone (crdHandler of apiextensions). */
function callCustomResource(deps: RouterDeps, call: Call, resource: ServedResource): Promise<Answer> | Answer {
  const { info } = call;
  const { namespaced, strategy } = resource.definition;
  if (namespaced && info.namespace === '' && info.verb !== 'list' && info.verb !== 'watch') return pageNotFound();
  if (strategy.warningOnUse !== undefined) call.warn(strategy.warningOnUse);
  return callResource(deps, call, resource);
}

function callResource(deps: RouterDeps, call: Call, resource: ServedResource): Promise<Answer> {
  const { info, request } = call;
  const { method } = request;
  if (info.nameInPath) {
    if (method === 'GET' && info.verb === 'watch') return watchObjects(deps, call, resource);
    if (method === 'GET' || method === 'HEAD') return getObject(deps, call, resource);
    if (method === 'PUT') return updateObject(deps, call, resource);
    if (method === 'PATCH') return patchObject(deps, call, resource);
    if (method === 'DELETE' && info.subresource === '') return deleteObject(deps, call, resource);
    throw refusedMethod(call, resource);
  }
  if (info.verb === 'watch') return watchObjects(deps, call, resource);
  if (method === 'GET' || method === 'HEAD') return listObjects(deps, call, resource);
  const inPlace = !resource.definition.namespaced || info.namespace !== '';
  if (method === 'POST' && inPlace) return createObject(deps, call, resource);
  // Neither Namespaces nor all namespaces at once can be deleted by collection.
  const collectable = inPlace && !(resource.definition.group === '' && resource.definition.plural === 'namespaces');
  if (method === 'DELETE' && collectable) return deleteCollection(deps, call, resource);
  throw refusedMethod(call, resource);
}

const ACTIONS: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'patch', DELETE: 'delete', GET: 'get' };

const refusedMethod = ({ request }: Call, resource: ServedResource): Error =>
  resource.custom
    ? methodNotAllowed(resource.groupResource, ACTIONS[request.method] ?? request.method.toLowerCase())
    : methodNotAllowedOnPath();
