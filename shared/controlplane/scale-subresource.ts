import { jsonAnswer } from './answer.ts';
import type { Answer } from './answer.ts';
import type { Call } from './call.ts';
import { applyScale, scaleOf } from './crd/scale.ts';
import type { CustomResources } from './custom-resources.ts';
import { applyMergePatch } from './patch/merge-patch.ts';
import { decodeAs } from './pod-subresources.ts';
import { readWriteOptions } from './request-options.ts';
import { type HandlerDeps, namespaceOf, writeRequest } from './resource-handlers.ts';
import { copyOf, type ServedResource } from './served-resources.ts';
import { notFound, pathNotFound, unsupportedMediaType } from './status-error.ts';
import type { StoredObject } from './store-table.ts';
import type { AnyObject } from './strategy.ts';
import type { Subresource } from './subresource.ts';
import { headerOf } from './request.ts';
import { MERGE_PATCH } from './patch/patch-object.ts';

type Deps = HandlerDeps & { readonly customResources: CustomResources };
type ScalePaths = Parameters<typeof scaleOf>[1];

/** `x/scale` of custom resources whose definition has it. */
export const scaleSubresource = (deps: Deps): Subresource => ({
  group: '*',
  version: '*',
  resource: '*',
  subresource: 'scale',
  methods: {
    GET: (call, parent) => {
      const { resource, paths } = scaled(deps, parent, call);
      return shownScale(deps.registry.get(resource, namespaceOf(call, resource), call.info.name), paths);
    },
    PUT: (call, resource) => writeScale(deps, call, resource, () => decodeAs(call, 'Scale', 'autoscaling', 'v1', 'Warn')),
    PATCH: (call, resource) => {
      if (headerOf(call.request, 'content-type').split(';')[0] !== MERGE_PATCH) throw unsupportedMediaType([MERGE_PATCH]);
      const patch: unknown = JSON.parse(call.request.body);
      return writeScale(deps, call, resource, (scale) => applyMergePatch(scale, patch));
    },
  },
});

/** The custom resource and where its definition says its replicas are. Throws 404 when it has no scale. */
function scaled(
  { customResources }: Deps,
  resource: ServedResource | undefined,
  { info: { name } }: Call,
): { resource: ServedResource; paths: ScalePaths } {
  const paths = resource === undefined ? undefined : customResources.versionOf(resource)?.subresources?.scale;
  if (resource === undefined) throw pathNotFound();
  if (paths === undefined) throw notFound(resource.groupResource, name);
  return { resource, paths };
}

const shownScale = ({ object }: StoredObject, paths: ScalePaths): Answer => jsonAnswer(200, JSON.stringify(scaleOf(object, paths)));

async function writeScale(
  deps: Deps,
  call: Call,
  parent: ServedResource | undefined,
  nextScale: (scale: object) => unknown,
): Promise<Answer> {
  const { resource, paths } = scaled(deps, parent, call);
  const options = readWriteOptions(call.info.query, call.request.method === 'PUT' ? 'UpdateOptions' : 'PatchOptions');
  const request = { ...writeRequest(call, resource, options, 'UpdateOptions'), subresource: 'scale' };
  const makeNext = (current: StoredObject | undefined): AnyObject => {
    if (current === undefined) throw notFound(resource.groupResource, call.info.name);
    const scale = nextScale(scaleOf(current.object, paths)) as { spec?: { replicas?: number }; metadata?: { resourceVersion?: string } };
    const next = copyOf(resource, current);
    const version = scale.metadata?.resourceVersion ?? '';
    if (version !== '') next.metadata.resourceVersion = version;
    applyScale(next, scale.spec?.replicas ?? 0, paths);
    return next;
  };
  const { stored } = await deps.registry.update(request, makeNext, { expectedUid: '', createsWhenAbsent: false });
  return shownScale(stored, paths);
}
