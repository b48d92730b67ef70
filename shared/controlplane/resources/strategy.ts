import type { AnyObject } from '../apimachinery/object.ts';
import type { FieldError } from '../apimachinery/field-error.ts';

/** One column of a kind's Table output. */
export type TableColumn = {
  readonly name: string;
  readonly type: string;
  readonly format: string;
  readonly description: string;
  readonly priority: number;
};
export type TablePrinter = {
  readonly columns: readonly TableColumn[];
  /** One cell per column; times are rendered relative to `now` (epoch milliseconds). */
  cells(object: AnyObject, now: number): unknown[];
  /** `conditions` of the row, where it has any: pods that have ended say so. */
  rowConditions?(object: AnyObject): unknown[] | undefined;
};

/**
 * What is particular to one kind, apart from storage and HTTP (a RESTStrategy of the generic API server).
 * The generic registry calls these synchronously, in the order of this file, inside one write.
 * `prepare…` and `applyDefaults` change the object in hand; `validate…` only report.
 */
export interface ResourceStrategy {
  /** On every decode: request bodies after decoding and after patching. */
  applyDefaults?(object: AnyObject): void;
  /** After uid, name and creationTimestamp are set. Drops status, sets generation, generates selectors. */
  prepareForCreate?(object: AnyObject): void;
  validateCreate?(object: AnyObject): FieldError[];
  warningsOnCreate?(object: AnyObject): string[];
  /**
   * After validation, right before a created or updated object is stored (or answered to a dry run): what upstream's
   * defaulting adds whenever it reads the object back. A Job without labels gets those of its template here.
   */
  prepareForStorage?(object: AnyObject): void;
  /** Restores what the main resource may not change (status) and raises generation when the spec differs. */
  prepareForUpdate?(next: AnyObject, previous: AnyObject): void;
  validateUpdate?(next: AnyObject, previous: AnyObject): FieldError[];
  warningsOnUpdate?(next: AnyObject, previous: AnyObject): string[];
  /** Present when the kind has a `/status` subresource. */
  readonly status?: PartStrategy;
  /** Present when the kind has a `/finalize` subresource (Namespaces). */
  readonly finalize?: PartStrategy;
  /**
   * Kinds with graceful deletion (pods): the grace period in seconds that this deletion gets. `requestedSeconds` is
   * undefined when the options name none. Absent: no graceful deletion, the period is 0.
   */
  gracePeriodSeconds?(object: AnyObject, requestedSeconds: number | undefined): number;
  /** What a deletion without propagation policy does; default background. batch/v1 Jobs: orphan. */
  readonly defaultPropagation?: 'orphan' | 'background';
  /** A warning for a DELETE without propagation policy (Jobs). */
  readonly warningOnImplicitOrphan?: string;
  /** A deletion that removes the object answers with the object instead of a Status (pods, service accounts, quotas). */
  readonly returnsDeletedObject?: boolean;
  /** Changes an object that a deletion marks, after its deletionTimestamp is set (namespaces: phase Terminating). */
  markDeleting?(object: AnyObject): void;
  /** True while something besides metadata.finalizers keeps a marked object (namespaces: spec.finalizers). */
  keptAfterDeletion?(object: AnyObject): boolean;
  /** Fields for field selectors besides metadata.name and metadata.namespace. */
  selectableFields?(object: AnyObject): Record<string, string>;
  /** The refusal of a field selector by another field; absent: upstream's usual words. */
  unsupportedField?(field: string): string;
  readonly table?: TablePrinter;
  /** PUT to a name that does not exist creates it (Leases and a few others). */
  readonly allowCreateOnUpdate?: boolean;
  /** A Warning header that comes with every answer about this resource: its version is deprecated. */
  readonly warningOnUse?: string;
  /** Present when the kind has a `/scale` subresource. */
  readonly hasScale?: boolean;
  /** Nothing is created any more, because the definition of this custom resource is being deleted. */
  readonly isTerminating?: boolean;
  /** An update must say which version it replaces (AllowUnconditionalUpdate is false); custom resources always must. */
  readonly forbidUnconditionalUpdate?: boolean;
}

/** How a subresource that writes a part of its object differs from the object itself. */
export type PartStrategy = {
  prepareForUpdate(next: AnyObject, previous: AnyObject): void;
  validateUpdate(next: AnyObject, previous: AnyObject): FieldError[];
};

/** One served resource. */
export type ResourceDefinition = {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly strategy: ResourceStrategy;
  /**
   * For a resource that is another view of stored objects: events.k8s.io/v1 Events are stored as core/v1 Events, and versions of a custom
   * resource in one of them.
   */
  readonly view?: ResourceView;
};

export type ResourceView = {
  /** Group of the resource that stores the objects, of the same plural name. */
  readonly storageGroup: string;
  /** Which form strategies see; the other is for storage or for bodies and answers alone. */
  readonly worksOn: 'stored' | 'shown';
  toStored(object: AnyObject): AnyObject;
  fromStored(object: AnyObject): AnyObject;
};
