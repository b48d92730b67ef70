import type { FieldError } from '../../shared/controlplane/apimachinery/field-error.ts';
import type { AnyObject } from '../../shared/controlplane/apimachinery/object.ts';
import type { ResourceStrategy } from '../../shared/controlplane/resources/strategy.ts';

/** Puts objects through a strategy in the order of the generic registry, without store or server. */
export interface KindDriver {
  create(body: object): Outcome;
  /** Replaces an object by what `change` makes of a copy of it. */
  update(stored: AnyObject, change: (object: AnyObject) => void): Outcome;
  updateStatus(stored: AnyObject, status: object): Outcome;
}
export type Outcome = { readonly object: AnyObject; readonly findings: readonly string[] };

/** `path | sentence` of each finding, with everything that is a UID written as UID. */
const sentences = (errors: readonly FieldError[]): string[] => errors.map(({ field, body }) => `${field} | ${body.replaceAll(UID, 'UID')}`);

export const UID = '11111111-2222-3333-4444-555555555555';
const CREATED = '2026-01-01T00:00:00Z';

/** `namespace` is '' for cluster-scoped kinds. */
export const driveKind = (strategy: ResourceStrategy, namespace = 'ns'): KindDriver => ({
  create: (body) => {
    const object = copyOf(body);
    object.metadata = { ...object.metadata, ...(namespace === '' ? {} : { namespace }) };
    strategy.applyDefaults?.(object);
    object.metadata.uid = UID;
    object.metadata.creationTimestamp = CREATED;
    strategy.prepareForCreate?.(object);
    const findings = sentences(strategy.validateCreate?.(object) ?? []);
    strategy.prepareForStorage?.(object);
    object.metadata.resourceVersion = '1';
    return { object, findings };
  },
  update: (stored, change) => {
    const object = copyOf(stored);
    change(object);
    strategy.applyDefaults?.(object);
    strategy.prepareForUpdate?.(object, stored);
    return { object, findings: sentences(strategy.validateUpdate?.(object, stored) ?? []) };
  },
  updateStatus: (stored, status) => {
    const object = copyOf({ ...stored, status });
    strategy.applyDefaults?.(object);
    strategy.status?.prepareForUpdate(object, stored);
    return { object, findings: sentences(strategy.status?.validateUpdate(object, stored) ?? []) };
  },
});

/** Absent fields are absent, as decoding leaves them. */
const copyOf = (object: object): AnyObject => JSON.parse(JSON.stringify(object)) as AnyObject;
