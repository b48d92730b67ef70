import { toWireTime } from '../../api/wire-time.ts';
import type { Answer } from '../request/answer.ts';
import { jsonAnswer } from '../request/answer.ts';
import { type Call, fieldManagerOf } from '../request/call.ts';
import { applyScale, scaleOf, stepsOf } from '../crd/scale.ts';
import type { CustomResources } from '../crd/custom-resources.ts';
import { cloneJson } from '../apimachinery/json.ts';
import { invalid as invalidField } from '../apimachinery/field-error.ts';
import { APPLY_PATCH, applyConfiguration } from '../fields/apply.ts';
import type { FieldSet } from '../fields/field-set.ts';
import { setManagers, trackUpdate } from '../fields/managed-fields.ts';
import { readManagers, writeManagers } from '../fields/managers.ts';
import { managersAfterScale, managersOfScale, type ReplicasPaths, SCALE_VERSION } from '../fields/scale-managers.ts';
import { formatSelector } from '../kinds/label-selector-format.ts';
import { JSON_PATCH, MERGE_PATCH, readPatch, STRATEGIC_MERGE_PATCH } from '../patch/patch-object.ts';
import { decodeAs } from './pod-subresources.ts';
import type { ReviewedAs } from '../registry/write-request.ts';
import { headerOf } from '../request/request.ts';
import { readWriteOptions, type WriteOptions } from '../registry/request-options.ts';
import { checkName, type HandlerDeps, namespaceOf, writeRequest } from '../endpoints/resource-handlers.ts';
import { builtInSchema } from '../schema/builtin.ts';
import type { ObjectSchema } from '../schema/schema.ts';
import { copyOf, type ServedResource, workingForm } from '../resources/served-resources.ts';
import {
  badRequest,
  conflict,
  internalError,
  invalid,
  notFound,
  pathNotFound,
  StatusError,
  unsupportedMediaType,
} from '../apimachinery/status-error.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { AnyObject } from '../apimachinery/object.ts';
import type { Subresource } from '../endpoints/subresource.ts';

type Deps = HandlerDeps & { readonly customResources: CustomResources };
type ScalePaths = Parameters<typeof scaleOf>[1];
type Scaled = { readonly resource: ServedResource; readonly paths: ScalePaths };
/** The Scale that is asked for, given the present one, and whether it notes its own managers. */
type NextScale = (scale: AnyObject) => { readonly scale: AnyObject; readonly isApplied: boolean };

/** `x/scale` of built-in kinds that have it, and of custom resources whose definition has it. */
export const scaleSubresource = (deps: Deps): Subresource => ({
  group: '*',
  version: '*',
  resource: '*',
  subresource: 'scale',
  methods: {
    GET: (call, parent) => {
      const { resource, paths } = scaled(deps, parent, call);
      const stored = deps.registry.get(resource, namespaceOf(call, resource), call.info.name);
      const { scale, hasReplicas } = shownScale(resource, workingForm(resource, stored), paths);
      if (!hasReplicas) throw internalError(`the spec replicas field ${JSON.stringify(paths.specReplicasPath)} does not exist`);
      return jsonAnswer(200, JSON.stringify(scale));
    },
    PUT: (call, parent) => {
      const options = readWriteOptions(call.info.query, 'UpdateOptions');
      const of = scaled(deps, parent, call);
      return writeScale(deps, call, of, options, () => ({ scale: readScale(call, options, of.resource), isApplied: false }));
    },
    PATCH: (call, parent) => {
      const of = scaled(deps, parent, call);
      const type = headerOf(call.request, 'content-type').split(';')[0]?.trim() ?? '';
      const options = readWriteOptions(call.info.query, 'PatchOptions', type === APPLY_PATCH);
      return writeScale(deps, call, of, options, patchedScale(deps, call, of.resource, type, options));
    },
  },
});

/** Where built-in kinds have their replicas; their selectors are objects, not text. */
const BUILT_IN_PATHS: ScalePaths = { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' };

/** Upstream's description of what cannot be read fails itself for custom resources, which know no Scale; that is what is said then. */
function readScale(call: Call, options: WriteOptions, { custom }: ServedResource): AnyObject {
  let scale: AnyObject;
  try {
    scale = decodeAs(call, 'Scale', 'autoscaling', 'v1', options.fieldValidation);
  } catch (error) {
    if (!custom || !(error instanceof StatusError) || error.code !== 400) throw error;
    throw badRequest('no kind is registered for the type v1.Scale in scheme "pkg/apiserver/customresource_handler.go:781"');
  }
  checkName(call, scale);
  return scale;
}

const scaleSchema = (): ObjectSchema => {
  const schema = builtInSchema('autoscaling', 'v1', 'Scale');
  if (schema === undefined) throw new Error('no schema for autoscaling/v1 Scale');
  return schema;
};

function patchedScale({ clock }: Deps, call: Call, { custom }: ServedResource, type: string, options: WriteOptions): NextScale {
  const schema = scaleSchema();
  if (type === APPLY_PATCH) {
    return (live) => {
      const { object, warnings } = applyConfiguration({
        body: call.request.body,
        live,
        schema,
        manager: options.fieldManager,
        force: options.force === true,
        subresource: 'scale',
        fieldValidation: options.fieldValidation,
        now: toWireTime(clock.now()),
      });
      for (const warning of warnings) call.warn(warning);
      return { scale: object, isApplied: true };
    };
  }
  if (type !== JSON_PATCH && type !== MERGE_PATCH && (custom || type !== STRATEGIC_MERGE_PATCH)) {
    throw custom
      ? unsupportedMediaType([JSON_PATCH, MERGE_PATCH, APPLY_PATCH])
      : new StatusError(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {});
  }
  const patch = readPatch(type, call.request.body, options.fieldValidation);
  return (live) => {
    const { object, warnings } = patch.applyTo(live, schema);
    for (const warning of warnings) call.warn(warning);
    return { scale: object, isApplied: false };
  };
}

/** The resource and where its replicas are. Throws 404 when it has no scale. */
function scaled({ customResources }: Deps, resource: ServedResource | undefined, { info: { name } }: Call): Scaled {
  if (resource === undefined) throw pathNotFound();
  const paths = pathsOf(customResources, resource);
  if (paths === undefined) throw resource.custom ? notFound(resource.groupResource, name) : pathNotFound();
  return { resource, paths };
}

const pathsOf = (customResources: CustomResources, resource: ServedResource): ScalePaths | undefined =>
  resource.custom
    ? customResources.versionOf(resource)?.subresources?.scale
    : resource.definition.strategy.hasScale === true
      ? BUILT_IN_PATHS
      : undefined;

/** The Scale of an object, and whether the object has a count at all. */
function shownScale({ custom, definition }: ServedResource, object: AnyObject, paths: ScalePaths): ReturnType<typeof scaleOf> {
  const found = scaleOf(object, paths);
  if (custom) return found;
  const { selector: stored } = (object['spec'] ?? {}) as { readonly selector?: object };
  // ReplicationControllers are older than selectors with expressions.
  const selector: Parameters<typeof formatSelector>[0] =
    definition.kind === 'ReplicationController' ? { matchLabels: { ...stored } } : stored;
  const { scale, hasReplicas } = found;
  return { scale: { ...scale, status: { ...(scale['status'] as object), selector: formatSelector(selector) } }, hasReplicas };
}

/** Where the replicas are in each version, as a set of fields. */
const replicasPaths =
  ({ resources, customResources }: Deps, { definition: { group, plural } }: ServedResource): ReplicasPaths =>
  (apiVersion) => {
    const slash = apiVersion.indexOf('/');
    const served = slash < 0 ? undefined : resources.find(group, apiVersion.slice(slash + 1), plural);
    if (served === undefined || served.apiVersion !== apiVersion) return undefined;
    const path = pathsOf(customResources, served)?.specReplicasPath;
    if (path === undefined) return null;
    return stepsOf(path).reduceRight<FieldSet>((set, step) => ({ [`f:${step}`]: set }), {});
  };

async function writeScale(deps: Deps, call: Call, of: Scaled, options: WriteOptions, nextScale: NextScale): Promise<Answer> {
  const { resource, paths } = of;
  const request = { ...writeRequest(call, resource, options, 'UpdateOptions'), subresource: 'scale', reviewedAs: reviewedAsScale(of) };
  const replicasOf = replicasPaths(deps, resource);
  const makeNext = (current: StoredObject | undefined): AnyObject => {
    if (current === undefined) throw notFound(resource.groupResource, call.info.name);
    const { scale: present, hasReplicas } = shownScale(resource, workingForm(resource, current), paths);
    const owners = readManagers(current.object.metadata.managedFields) ?? [];
    const managedFields = writeManagers(managersOfScale(owners, replicasOf), false);
    const live = { ...present, metadata: { ...present.metadata, managedFields } };
    const { scale, isApplied } = nextScale(hasReplicas ? live : { ...live, spec: { replicas: UNSET } });
    if (countOf(scale) === UNSET) throw badRequest(`the spec replicas field ${JSON.stringify(paths.specReplicasPath)} cannot be empty`);
    if (!resource.custom) checkBuiltIn(scale, present, call.info.name, resource);
    if (!isApplied) trackScale(deps, call, options, live, scale);
    const next = copyOf(resource, current);
    const asked = scale.metadata.resourceVersion ?? '';
    if (asked !== '') next.metadata.resourceVersion = asked;
    applyScale(next, countOf(scale), paths);
    const ofScale = readManagers(scale.metadata.managedFields) ?? [];
    setManagers(next, managersAfterScale(owners, ofScale, replicasOf, resource.apiVersion), resource.custom);
    return next;
  };
  const { stored } = await deps.registry.update(request, makeNext, { expectedUid: '', createsWhenAbsent: false });
  return jsonAnswer(200, JSON.stringify(shownScale(resource, workingForm(resource, stored), paths).scale));
}

function trackScale({ clock }: Deps, call: Call, options: WriteOptions, live: AnyObject, next: AnyObject): void {
  trackUpdate({
    live,
    next,
    manager: fieldManagerOf(call, options.fieldManager),
    apiVersion: SCALE_VERSION,
    subresource: 'scale',
    schema: scaleSchema(),
    now: toWireTime(clock.now()),
  });
}

/** What upstream asks of the Scale of a built-in kind: a count that is usable, and the UID of its object, if any. */
function checkBuiltIn(scale: AnyObject, present: AnyObject, name: string, { groupResource }: ServedResource): void {
  const replicas = countOf(scale);
  if (replicas < 0) {
    const error = invalidField('spec.replicas', replicas, 'must be greater than or equal to 0');
    throw invalid({ group: 'autoscaling', kind: 'Scale' }, name, [error]);
  }
  const uid = scale.metadata.uid ?? '';
  if (uid === '' || uid === present.metadata.uid) return;
  const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${present.metadata.uid}`;
  throw conflict({ ...groupResource, resource: `${groupResource.resource}/scale` }, name, why);
}

/** Stands in a Scale for a count that its object does not have: the smallest int32. */
const UNSET = -(2 ** 31);

const reviewedAsScale = ({ resource, paths }: Scaled): ReviewedAs => ({
  kind: { group: 'autoscaling', version: 'v1', kind: 'Scale' },
  show: (object) => shownScale(resource, object, paths).scale,
  take: (object, scale) => {
    const next = cloneJson(object);
    applyScale(next, countOf(scale), paths);
    return next;
  },
});

/** Webhooks may have made anything of a Scale. */
function countOf({ spec }: AnyObject): number {
  const replicas = (spec as { readonly replicas?: unknown } | undefined)?.replicas ?? 0;
  if (typeof replicas !== 'number') throw badRequest('spec.replicas of a Scale is a number');
  return replicas;
}
