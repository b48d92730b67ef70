import { BUILT_IN_RESOURCES } from '../../../shared/controlplane/kinds/built-in-resources.ts';
import { StatusError } from '../../../shared/controlplane/apimachinery/status-error.ts';
import type { AnyObject as StoredObject } from '../../../shared/controlplane/apimachinery/object.ts';
import { asCrd } from '../../../shared/controlplane/crd/crd.ts';
import { resourcesFromCrd } from '../../../shared/controlplane/crd/custom-resource.ts';
import type { ResourceDefinition } from '../../../shared/controlplane/resources/strategy.ts';
import { builtInSchema } from '../../../shared/controlplane/schema/builtin.ts';
import { decodeObject } from '../../../shared/controlplane/schema/decode.ts';
import type { ObjectSchema } from '../../../shared/controlplane/schema/schema.ts';
import { customResourceDefinition, type KindDefinition } from '../../api/kind-definition.ts';
import { SWITCHYARD_KINDS } from '../../api/kinds.ts';
import { prepareJob } from '../../policy/prepare-job.ts';
import { formatProblems } from '../../api/field-problem.ts';
import type { Job } from '../../../shared/api/kubernetes.ts';
import type { Resource } from '../../../shared/api/resources.ts';
import type { AnyObject } from './change-kinds.ts';
import { JOB_KIND } from '../../work-kind/job/job-kind.ts';
import { qualifierOf } from '../../work-kind/qualified-name.ts';

/** A change that cannot be made, in words that name the place, the field and the remedy. */
export class ChangeError extends Error {
  override readonly name = 'ChangeError';
}

/** What the API server, and our webhook, would take of a manifest, as stored; `before` is what it replaces. */
export type Validator = (resource: Resource, manifest: object, before: AnyObject | undefined, place: string) => AnyObject;

/**
 * Judges manifests as the API server would: unknown fields, types, defaults, the schemas and rules of the CustomResourceDefinitions, of
 * updates those for updates, and of Jobs what our webhook says of them. Throws {@link ChangeError}.
 */
export function createValidator(nowMs: number): Validator {
  const served = new Map<Resource, Served>();
  let created = 0;
  return (resource, manifest, before, place) => {
    const known = served.get(resource) ?? servedOf(resource);
    served.set(resource, known);
    const { strategy } = known.definition;
    const next = decoded(known.schema, manifest, place);
    const old = before === undefined ? undefined : (structuredClone(before) as unknown as StoredObject);
    strategy.applyDefaults?.(next);
    if (old === undefined) {
      Object.assign(next.metadata, { uid: `what-if-${++created}`, resourceVersion: '0', creationTimestamp: wireTime(nowMs) });
      const object = qualifierOf(resource) === undefined ? ours(next, place) : next;
      strategy.prepareForCreate?.(object);
      refuse(strategy.validateCreate?.(object) ?? [], resource, object, place);
      return asAny(object);
    }
    const { uid, resourceVersion, creationTimestamp, annotations, finalizers } = old.metadata;
    Object.assign(next.metadata, { uid, resourceVersion, creationTimestamp });
    if (finalizers !== undefined) next.metadata.finalizers ??= finalizers;
    // What is not said stays, as with kubectl apply.
    if (annotations !== undefined) next.metadata.annotations = { ...annotations, ...next.metadata.annotations };
    strategy.prepareForUpdate?.(next, old);
    refuse(strategy.validateUpdate?.(next, old) ?? [], resource, next, place);
    return asAny(next);
  };
}

type Served = { readonly definition: ResourceDefinition; readonly schema: ObjectSchema };

function servedOf(resource: Resource): Served {
  const ours_ = SWITCHYARD_KINDS.find((kind) => kind.resource === resource);
  const custom = ours_ && customOf(ours_);
  if (custom !== undefined) return custom;
  const definition = BUILT_IN_RESOURCES.find(({ group, kind }) => group === resource.group && kind === resource.kind);
  const schema = builtInSchema(resource.group, resource.version, resource.kind);
  if (definition === undefined || schema === undefined) throw new Error(`there is no schema of ${resource.kind}`);
  return { definition, schema };
}

function customOf(kind: KindDefinition): Served | undefined {
  const crd = asCrd(structuredClone(customResourceDefinition(kind)) as StoredObject);
  return resourcesFromCrd({ ...crd, status: { acceptedNames: crd.spec?.names ?? {} } })[0];
}

function decoded(schema: ObjectSchema, manifest: object, place: string): StoredObject {
  try {
    return decodeObject(JSON.stringify(manifest), 'application/json', schema, 'Strict').object;
  } catch (error) {
    if (error instanceof StatusError) throw new ChangeError(`${place}: ${error.message}`, { cause: error });
    throw error;
  }
}

function ours(job: StoredObject, place: string): StoredObject {
  const prepared = prepareJob(JOB_KIND, job as unknown as Job);
  if (prepared.kind === 'Refused') throw new ChangeError(`${place}: Job ${job.metadata.name}: ${formatProblems(prepared.problems)}`);
  return prepared.job as unknown as StoredObject;
}

function refuse(
  errors: readonly { readonly field: string; readonly body: string }[],
  { kind }: Resource,
  { metadata }: StoredObject,
  place: string,
): void {
  if (errors.length === 0) return;
  throw new ChangeError(
    `${place}: ${kind} ${metadata.name} is invalid: ${errors.map(({ field, body }) => `${field}: ${body}`).join('; ')}`,
  );
}

const asAny = (object: StoredObject): AnyObject => object as unknown as AnyObject;
const wireTime = (ms: number): string => new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
