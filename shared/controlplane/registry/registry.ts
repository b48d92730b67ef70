import { toWireTime } from '../../api/wire-time.ts';
import { generateName } from '../../kube/generated-name.ts';
import type { Clock } from '../../runtime/clock.ts';
import type { Random } from '../../runtime/random.ts';
import type { Admission } from '../admission/admission-request.ts';
import { newUid } from '../apimachinery/identifiers.ts';
import { cloneJson, jsonEquals } from '../apimachinery/json.ts';
import { validateCommonFieldsOnCreate, validateCommonFieldsOnUpdate } from '../apimachinery/object-meta-validation.ts';
import type { AnyMeta, AnyObject } from '../apimachinery/object.ts';
import { dropDuplicateOwners } from '../apimachinery/owner-references.ts';
import { alreadyExists, badRequest, invalid, modifiedConflict, notFound, StatusError, unknownError } from '../apimachinery/status-error.ts';
import { keepTimesOfUnchanged } from '../fields/managed-fields.ts';
import { type ServedResource, storedForm, toVersioned, workingForm } from '../resources/served-resources.ts';
import type { PartStrategy, ResourceStrategy } from '../resources/strategy.ts';
import { forgetEmptyLists } from '../schema/empty-lists.ts';
import type { StoredObject } from '../storage/stored-object.ts';
import type { DeleteOptions } from './delete-options.ts';
import { decideDeletion, type Deletion } from './deletion.ts';
import { checkPreconditions, checkUid, type Preconditions } from './preconditions.ts';
import { isUnsigned } from './request-options.ts';
import { admissionRequest, type WriteRequest } from './write-request.ts';

export type Written = { readonly stored: StoredObject; readonly created: boolean };

export type UpdateOptions = {
  /** UID that the stored object must have; '' for any. A PUT names it in its body. */
  readonly expectedUid: string;
  /** Apply creates what is not there. */
  readonly createsWhenAbsent: boolean;
  /** Asked before an update creates something. Throws 403. */
  readonly authorizeCreate?: () => void;
};

export type RegistryDeps = { readonly clock: Clock; readonly random: Random; readonly admission: Admission };

/** The generic half of every resource: what create and update do for all kinds (generic registry of apiserver). */
export interface Registry {
  /** Throws 404. */
  get(resource: ServedResource, namespace: string, name: string): StoredObject;
  /** Takes a decoded and defaulted object with kind and apiVersion. */
  create(request: WriteRequest, object: AnyObject): Promise<Written>;
  /**
   * Makes the next state from the current one (undefined: not there) and stores it; again when the object changed while
   * admission was asked. `makeNext` returns a private object with kind and apiVersion.
   */
  update(request: WriteRequest, makeNext: (current: StoredObject | undefined) => AnyObject, options: UpdateOptions): Promise<Written>;
  /** Changes an object without asking its strategy or admission: bindings. `change` returns a private object. */
  modify(request: WriteRequest, preconditions: Preconditions, change: (current: StoredObject) => AnyObject): Written;
  /** `isAdmitted`: admission has been asked about what leads to this deletion (evictions). */
  delete(request: WriteRequest, options: DeleteOptions, isAdmitted?: boolean): Promise<Deleted>;
}

/** `removed`: the object is gone; otherwise it is marked and waits for its finalizers or its grace period. */
export type Deleted = { readonly stored: StoredObject; readonly removed: boolean };

/** Attempts to find a free name for generateName (names.MaxNameAttempts). */
const MAX_NAME_ATTEMPTS = 8;

export function createRegistry(deps: RegistryDeps): Registry {
  return new GenericRegistry(deps);
}

class GenericRegistry implements Registry {
  readonly #deps: RegistryDeps;

  constructor(deps: RegistryDeps) {
    this.#deps = deps;
  }

  get(resource: ServedResource, namespace: string, name: string): StoredObject {
    const stored = resource.table.get(namespace, name);
    if (stored === undefined) throw notFound(resource.groupResource, name);
    return stored;
  }

  async create(request: WriteRequest, object: AnyObject): Promise<Written> {
    placeInNamespace(request, object);
    const generated = (object.metadata.name ?? '') === '' && (object.metadata.generateName ?? '') !== '';
    const admitted = await this.#askMutating(request, 'CREATE', object, undefined);
    for (let attempt = 1; ; attempt++) {
      // What a strategy derives from the name must not outlive an attempt.
      const candidate = generated ? cloneJson(admitted) : admitted;
      try {
        return await this.#createOnce(request, candidate);
      } catch (error) {
        const taken = error instanceof StatusError && error.reason === 'AlreadyExists';
        if (!generated || !taken || attempt >= MAX_NAME_ATTEMPTS) throw error;
      }
    }
  }

  /** Mutating admission; the object itself when no plugin changes it. */
  async #askMutating(
    request: WriteRequest,
    operation: 'CREATE' | 'UPDATE',
    object: AnyObject,
    previous: StoredObject | undefined,
  ): Promise<AnyObject> {
    const asked = this.#deps.admission.mutate(admissionRequest(request, operation, object, previous));
    const changed = asked === undefined ? undefined : await asked;
    const next = changed === undefined || request.reviewedAs === undefined ? (changed ?? object) : request.reviewedAs.take(object, changed);
    const warning = dropDuplicateOwners(next.metadata, true);
    if (warning !== '') request.warn(warning);
    return next;
  }

  async #createOnce(request: WriteRequest, versioned: AnyObject, authorize?: () => void): Promise<Written> {
    const { resource } = request;
    const object = toInternal(resource, versioned);
    this.#beforeCreate(request, object);
    authorize?.();
    const validating = this.#deps.admission.validate(admissionRequest(request, 'CREATE', toVersioned(resource, object), undefined));
    if (validating !== undefined) await validating;
    const { name, resourceVersion } = object.metadata;
    // Unlike later writes, a create refuses any version (storage.ErrResourceVersionSetOnCreate).
    if (isUnsigned(resourceVersion ?? '') && Number(resourceVersion) !== 0) {
      throw unknownError('resourceVersion should not be set on objects to be created');
    }
    refuseExisting(resource, request.namespace, name);
    delete (object.metadata as Partial<AnyMeta>).resourceVersion;
    prepareForStorage(resource, object);
    return { stored: store(request, storedForm(resource, object)), created: true };
  }

  /** rest.BeforeCreate: system fields, name, strategy, validation, warnings. */
  #beforeCreate(request: WriteRequest, object: AnyObject): void {
    const { random, clock } = this.#deps;
    const { definition, groupKind } = request.resource;
    const { strategy } = definition;
    const { metadata } = object;
    metadata.uid = newUid(random);
    metadata.creationTimestamp = toWireTime(clock.now());
    if ((metadata.name ?? '') === '' && (metadata.generateName ?? '') !== '') {
      metadata.name = generateName(metadata.generateName ?? '', random);
    }
    metadata.name ??= '';
    delete metadata.deletionTimestamp;
    delete metadata.deletionGracePeriodSeconds;
    delete metadata['selfLink'];
    strategy.prepareForCreate?.(object);
    const errors = strategy.validateCreate?.(object) ?? [];
    const findings = errors.length > 0 ? errors : validateCommonFieldsOnCreate(object, definition.namespaced);
    if (findings.length > 0) throw invalid(groupKind, metadata.name ?? '', findings);
    for (const text of strategy.warningsOnCreate?.(object) ?? []) request.warn(text);
    redefault(request.resource, object);
  }

  async update(
    request: WriteRequest,
    makeNext: (current: StoredObject | undefined) => AnyObject,
    options: UpdateOptions,
  ): Promise<Written> {
    const { resource, namespace, name } = request;
    const { table, definition } = resource;
    for (;;) {
      const current = table.get(namespace, name);
      if (current === undefined && !options.createsWhenAbsent && definition.strategy.allowCreateOnUpdate !== true) {
        throw notFound(resource.groupResource, name);
      }
      if (options.expectedUid !== '') checkUid(resource, namespace, name, options.expectedUid, current);
      const versioned = makeNext(current);
      placeInNamespace(request, versioned);
      const next = await this.#askMutating(request, current === undefined ? 'CREATE' : 'UPDATE', versioned, current);
      if (table.get(namespace, name) !== current) continue;
      if (current === undefined) {
        const object = toInternal(resource, next);
        delete (object.metadata as Partial<AnyMeta>).resourceVersion;
        return this.#createOnce(request, object, options.authorizeCreate);
      }
      const object = toInternal(resource, next);
      checkVersion(resource, object, current);
      beforeUpdate(request, object, current);
      const validating = this.#deps.admission.validate(admissionRequest(request, 'UPDATE', toVersioned(resource, object), current));
      if (validating !== undefined) {
        await validating;
        if (table.get(namespace, name) !== current) continue;
      }
      return { stored: commitUpdate(request, object, current), created: false };
    }
  }

  modify(request: WriteRequest, preconditions: Preconditions, change: (current: StoredObject) => AnyObject): Written {
    const { resource, namespace, name } = request;
    const current = this.get(resource, namespace, name);
    checkPreconditions(resource, preconditions, current);
    const next = toInternal(resource, change(current));
    checkVersion(resource, next, current);
    return { stored: commitUpdate(request, { ...next, metadata: { ...next.metadata } }, current), created: false };
  }

  async delete(request: WriteRequest, options: DeleteOptions, isAdmitted = false): Promise<Deleted> {
    const { clock, admission } = this.#deps;
    const { resource, namespace, name } = request;
    for (;;) {
      const current = this.get(resource, namespace, name);
      const deletion = decideDeletion(resource, current.object, options, clock.now());
      if (isAdmitted) return carryOut(request, deletion, current);
      const question = admissionRequest(request, 'DELETE', undefined, current);
      const mutating = admission.mutate(question);
      if (mutating !== undefined) await mutating;
      // What is being deleted already and gains nothing by this is not validated.
      const validating = deletion.kind === 'keep' ? undefined : admission.validate(question);
      if (validating !== undefined) await validating;
      if (resource.table.get(namespace, name) !== current) continue;
      return carryOut(request, deletion, current);
    }
  }
}

function store(request: WriteRequest, object: AnyObject): StoredObject {
  if (!request.dryRun) return request.resource.table.put(object);
  return unsaved(object);
}

/** Optimistic locking: an absent or zero version means unconditional, where the kind allows it. */
function checkVersion(resource: ServedResource, object: AnyObject, current: StoredObject): void {
  const asked = object.metadata.resourceVersion ?? '';
  if (asked !== '' && !isUnsigned(asked)) throw unknownError(`strconv.ParseUint: parsing ${JSON.stringify(asked)}: invalid syntax`);
  if (asked === '' || Number(asked) === 0) {
    if (!resource.custom && resource.definition.strategy.forbidUnconditionalUpdate !== true) return;
    // Upstream has no kind at hand here.
    const { group, resource: plural } = resource.groupResource;
    throw invalid({ group, kind: plural }, object.metadata.name, [
      { type: 'FieldValueInvalid', field: 'metadata.resourceVersion', body: 'Invalid value: 0: must be specified for an update' },
    ]);
  }
  if (Number(asked) !== current.revision) throw modifiedConflict(resource.groupResource, object.metadata.name);
}

/** rest.BeforeUpdate: what no update may change, strategy, validation, warnings. */
function beforeUpdate(request: WriteRequest, object: AnyObject, current: StoredObject): void {
  const { definition, groupKind } = request.resource;
  const { strategy } = definition;
  const { metadata } = object;
  const previous = workingForm(request.resource, current);
  const old = previous.metadata;
  if (old.generation === undefined) delete metadata.generation;
  else metadata.generation = old.generation;
  delete metadata['selfLink'];
  const part = partOf(strategy, request.subresource);
  if (part === undefined) strategy.prepareForUpdate?.(object, previous);
  else part.prepareForUpdate(object, previous);
  if ((metadata.uid ?? '') === '') metadata.uid = old.uid;
  metadata.creationTimestamp = old.creationTimestamp;
  if (old.deletionTimestamp !== undefined) metadata.deletionTimestamp = old.deletionTimestamp;
  if (old.deletionGracePeriodSeconds !== undefined) metadata.deletionGracePeriodSeconds ??= old.deletionGracePeriodSeconds;
  const common = validateCommonFieldsOnUpdate(object, previous, definition.namespaced);
  const own = (part === undefined ? strategy.validateUpdate?.(object, previous) : part.validateUpdate(object, previous)) ?? [];
  if (common.length + own.length > 0) throw invalid(groupKind, metadata.name, [...common, ...own]);
  if (part === undefined) for (const text of strategy.warningsOnUpdate?.(object, previous) ?? []) request.warn(text);
}

function commitUpdate(request: WriteRequest, updated: AnyObject, current: StoredObject): StoredObject {
  const { resource, dryRun } = request;
  prepareForStorage(resource, updated);
  redefault(resource, updated);
  const object = storedForm(resource, updated);
  object.metadata.resourceVersion = current.object.metadata.resourceVersion;
  if (isReleased(resource, object)) {
    // The write that releases the last finalizer is never stored; the object goes as it was.
    if (!dryRun) resource.table.remove(current);
    return unsaved(object);
  }
  keepTimesOfUnchanged(object, current.object);
  if (jsonEquals(object, current.object)) return current;
  return store(request, object);
}

function carryOut(request: WriteRequest, deletion: Deletion, current: StoredObject): Deleted {
  const { table } = request.resource;
  switch (deletion.kind) {
    case 'keep':
      return { stored: current, removed: false };
    case 'mark':
      return { stored: jsonEquals(deletion.next, current.object) ? current : store(request, deletion.next), removed: false };
    case 'mark-and-remove': {
      const marked = store(request, deletion.next);
      return { stored: request.dryRun ? marked : table.remove(marked), removed: true };
    }
    case 'remove':
      return { stored: request.dryRun ? current : table.remove(current), removed: true };
  }
}

const partOf = (strategy: ResourceStrategy, subresource: string): PartStrategy | undefined => {
  if (subresource === 'status') return strategy.status;
  return subresource === 'finalize' ? strategy.finalize : undefined;
};

/** True when nothing keeps an object that is marked as deleted, so that this update ends it. */
const isReleased = ({ definition }: ServedResource, { metadata, ...rest }: AnyObject): boolean =>
  metadata.deletionTimestamp !== undefined &&
  (metadata.finalizers ?? []).length === 0 &&
  (metadata.deletionGracePeriodSeconds ?? 0) === 0 &&
  definition.strategy.keptAfterDeletion?.({ metadata, ...rest }) !== true;

/** An object that an answer shows but the store does not hold. */
export const unsaved = (object: AnyObject): StoredObject => ({
  namespace: object.metadata.namespace ?? '',
  name: object.metadata.name,
  revision: 0,
  object,
  text: JSON.stringify(object),
});

/** As the strategies have it: without kind and apiVersion, a view converted. */
function toInternal({ definition: { view } }: ServedResource, versioned: AnyObject): AnyObject {
  const { kind: _kind, apiVersion: _apiVersion, ...object } = view?.worksOn === 'stored' ? view.toStored(versioned) : versioned;
  return object;
}

/** What does not survive storage goes before it. */
function prepareForStorage({ definition, schema, custom }: ServedResource, object: AnyObject): void {
  definition.strategy.prepareForStorage?.(object);
  if (!custom) forgetEmptyLists(object, schema);
}

/** Upstream defaults whatever it reads from storage, so that defaults that depend on generated fields are there too. */
const redefault = ({ definition }: ServedResource, object: AnyObject): void => definition.strategy.applyDefaults?.(object);

/** Throws 400 for an object of another namespace than that of the path. */
export function requireNamespace(expected: string, { metadata }: AnyObject): void {
  const own = metadata.namespace ?? '';
  if (own === '' || expected === '' || own === expected) return;
  throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
}

/** The namespace of the path counts; an object may repeat it, not contradict it. Cluster-scoped objects lose theirs. */
export function placeInNamespace({ resource, namespace }: Pick<WriteRequest, 'resource' | 'namespace'>, object: AnyObject): void {
  const expected = resource.definition.namespaced ? namespace : '';
  requireNamespace(expected, object);
  if (expected !== '') object.metadata.namespace = expected;
  else delete object.metadata.namespace;
}

function refuseExisting(resource: ServedResource, namespace: string, name: string): void {
  const existing = resource.table.get(namespace, name);
  if (existing === undefined) return;
  const error = alreadyExists(resource.groupResource, name);
  if (existing.object.metadata.deletionTimestamp === undefined) throw error;
  throw new StatusError(error.code, error.reason, `object is being deleted: ${error.message}`, error.details);
}
