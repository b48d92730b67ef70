import type { Answer } from '../request/answer.ts';
import { jsonAnswer } from '../request/answer.ts';
import type { Call } from '../request/call.ts';
import { applyScale, scaleOf } from '../crd/scale.ts';
import type { CustomResources } from '../crd/custom-resources.ts';
import { cloneJson } from '../apimachinery/json.ts';
import { JSON_PATCH, MERGE_PATCH, readPatch } from '../patch/patch-object.ts';
import { decodeAs } from './pod-subresources.ts';
import type { ReviewedAs } from '../registry/registry.ts';
import { headerOf } from '../request/request.ts';
import { readWriteOptions, type WriteOptions } from '../registry/request-options.ts';
import { checkName, type HandlerDeps, namespaceOf, writeRequest } from '../endpoints/resource-handlers.ts';
import { builtInSchema } from '../schema/builtin.ts';
import { copyOf, type ServedResource, workingForm } from '../resources/served-resources.ts';
import { badRequest, internalError, notFound, pathNotFound, StatusError, unsupportedMediaType } from '../apimachinery/status-error.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import type { Subresource } from '../endpoints/subresource.ts';

type Deps = HandlerDeps & { readonly customResources: CustomResources };
type ScalePaths = Parameters<typeof scaleOf>[1];
/** The Scale that is asked for, given the present one. */
type NextScale = (scale: AnyObject) => AnyObject;

/** `x/scale` of custom resources whose definition has it. */
export const scaleSubresource = (deps: Deps): Subresource => ({
  group: '*',
  version: '*',
  resource: '*',
  subresource: 'scale',
  methods: {
    GET: (call, parent) => {
      const { resource, paths } = scaled(deps, parent, call);
      const stored = deps.registry.get(resource, namespaceOf(call, resource), call.info.name);
      const { scale, hasReplicas } = scaleOf(workingForm(resource, stored), paths);
      if (!hasReplicas) throw internalError(`the spec replicas field ${JSON.stringify(paths.specReplicasPath)} does not exist`);
      return jsonAnswer(200, JSON.stringify(scale));
    },
    PUT: (call, parent) => {
      const options = readWriteOptions(call.info.query, 'UpdateOptions');
      return writeScale(deps, call, parent, options, () => readScale(call, options));
    },
    PATCH: (call, parent) => {
      const options = readWriteOptions(call.info.query, 'PatchOptions');
      return writeScale(deps, call, parent, options, patchedScale(call, options));
    },
  },
});

/** Upstream's description of what cannot be read fails itself, since custom resources know no Scale; that is what is said then. */
function readScale(call: Call, options: WriteOptions): AnyObject {
  let scale: AnyObject;
  try {
    scale = decodeAs(call, 'Scale', 'autoscaling', 'v1', options.fieldValidation);
  } catch (error) {
    if (!(error instanceof StatusError) || error.code !== 400) throw error;
    throw badRequest('no kind is registered for the type v1.Scale in scheme "pkg/apiserver/customresource_handler.go:781"');
  }
  checkName(call, scale);
  return scale;
}

function patchedScale(call: Call, options: WriteOptions): NextScale {
  const type = headerOf(call.request, 'content-type').split(';')[0]?.trim();
  if (type !== JSON_PATCH && type !== MERGE_PATCH) throw unsupportedMediaType([JSON_PATCH, MERGE_PATCH]);
  const schema = builtInSchema('autoscaling', 'v1', 'Scale');
  if (schema === undefined) throw new Error('no schema for autoscaling/v1 Scale');
  const patch = readPatch(type, call.request.body, options.fieldValidation);
  return (scale) => {
    const { object, warnings } = patch.applyTo(scale, schema);
    for (const warning of warnings) call.warn(warning);
    return object;
  };
}

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

async function writeScale(
  deps: Deps,
  call: Call,
  parent: ServedResource | undefined,
  options: WriteOptions,
  nextScale: NextScale,
): Promise<Answer> {
  const { resource, paths } = scaled(deps, parent, call);
  const request = { ...writeRequest(call, resource, options, 'UpdateOptions'), subresource: 'scale', reviewedAs: reviewedAsScale(paths) };
  const makeNext = (current: StoredObject | undefined): AnyObject => {
    if (current === undefined) throw notFound(resource.groupResource, call.info.name);
    const { scale: present, hasReplicas } = scaleOf(workingForm(resource, current), paths);
    const scale = nextScale(hasReplicas ? present : { ...present, spec: { replicas: UNSET } });
    if (replicasOf(scale) === UNSET) throw badRequest(`the spec replicas field ${JSON.stringify(paths.specReplicasPath)} cannot be empty`);
    const next = copyOf(resource, current);
    const asked = scale.metadata.resourceVersion ?? '';
    if (asked !== '') next.metadata.resourceVersion = asked;
    applyScale(next, replicasOf(scale), paths);
    return next;
  };
  const { stored } = await deps.registry.update(request, makeNext, { expectedUid: '', createsWhenAbsent: false });
  return jsonAnswer(200, JSON.stringify(scaleOf(workingForm(resource, stored), paths).scale));
}

/** Stands in a Scale for a count that its object does not have: the smallest int32. */
const UNSET = -(2 ** 31);

const reviewedAsScale = (paths: ScalePaths): ReviewedAs => ({
  kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
  show: (object) => scaleOf(object, paths).scale,
  take: (object, scale) => {
    const next = cloneJson(object);
    applyScale(next, replicasOf(scale), paths);
    return next;
  },
});

/** Webhooks may have made anything of a Scale. */
function replicasOf({ spec }: AnyObject): number {
  const replicas = (spec as { readonly replicas?: unknown } | undefined)?.replicas ?? 0;
  if (typeof replicas !== 'number') throw badRequest('spec.replicas of a Scale is a number');
  return replicas;
}
