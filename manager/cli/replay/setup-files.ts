import { isJsonObject } from '../../api/json-value.ts';
import { SWITCHYARD_KINDS } from '../../api/kinds.ts';
import { SETUP_KINDS, type LoggedObject, type SetupKind } from '../../admission/decision-log/decision-log.ts';
import { SWITCHYARD_GROUP, SWITCHYARD_VERSION } from '../../../shared/api/names.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { carry, type FieldSchema } from '../import-kueue/carry.ts';
import { ManifestError, readManifests, type Manifest } from '../import-kueue/documents.ts';
import { problemOf } from '../import-kueue/translate.ts';
import { ChangeError, createValidator, type Validator } from '../what-if/validation.ts';

const OWN_VERSION = `${SWITCHYARD_GROUP}/${SWITCHYARD_VERSION}`;
/** Kinds of Kubernetes that decisions depend on. */
const OTHER_VERSIONS: Readonly<Partial<Record<SetupKind, string>>> = { PriorityClass: 'scheduling.k8s.io/v1', Namespace: 'v1' };

/**
 * The objects of a text of manifests, with defaults, as an API server would store them, once it has checked schemas and rules of their
 * kinds; a field that a kind does not have is refused here, which an API server would drop. Throws {@link ManifestError}.
 */
export function setupObjectsIn(file: string, text: string, kinds: readonly SetupKind[] = SETUP_KINDS): LoggedObject[] {
  const validate = createValidator(0);
  return readManifests(file, text).map((manifest) => setupObject(manifest, kinds, validate));
}

function setupObject(
  { apiVersion, kind: named, name, fields, place }: Manifest,
  kinds: readonly SetupKind[],
  validate: Validator,
): LoggedObject {
  const kind = kinds.find((each) => each === named);
  const wanted = kind && (OTHER_VERSIONS[kind] ?? OWN_VERSION);
  if (kind === undefined || apiVersion !== wanted) {
    const instead = apiVersion.startsWith('kueue.x-k8s.io/') ? '; translate it with switchyard import kueue' : '';
    throw new ManifestError(`${place}: ${apiVersion} ${named} is no part of the setup here; there may be ${kinds.join(', ')}${instead}`);
  }
  const object = `${kind} ${name}`;
  const { apiVersion: _version, kind: _kind, metadata, status, ...body } = fields;
  const fitting = OTHER_VERSIONS[kind] === undefined ? checked(kind, body, `${place}: ${object}`) : body;
  const { namespace, labels } = isJsonObject(metadata) ? metadata : {};
  if (kind === 'LocalQueue' && typeof namespace !== 'string')
    throw new ManifestError(`${place}: ${object}: metadata.namespace is missing; name its namespace`);
  if (kind === 'PriorityClass' && typeof body['value'] !== 'number')
    throw new ManifestError(`${place}: ${object}: value is missing; write a whole number`);
  const own = OTHER_VERSIONS[kind] === undefined ? stored({ kind, name, namespace, fields: fitting, place }, validate) : fitting;
  return {
    kind,
    metadata: {
      name,
      ...omitUndefined({
        namespace: kind === 'LocalQueue' && typeof namespace === 'string' ? namespace : undefined,
        labels: isJsonObject(labels) ? (labels as Readonly<Record<string, string>>) : undefined,
      }),
    },
    ...own,
    // Nobody has written what a new cluster tells of itself: it is taken on trust.
    ...(kind === 'WorkerCluster' ? { status: isJsonObject(status) ? status : { conditions: [READY] } } : {}),
  };
}

type Own = {
  readonly kind: SetupKind;
  readonly name: string;
  readonly namespace: unknown;
  readonly fields: object;
  readonly place: string;
};

/** What an API server would store of an object of a kind of ours. */
function stored({ kind, name, namespace, fields, place }: Own, validate: Validator): Readonly<Record<string, unknown>> {
  const resource = SWITCHYARD_KINDS.find((each) => each.resource.kind === kind)?.resource;
  if (resource === undefined) throw new Error(`${kind} is no kind of ours`);
  const manifest = { apiVersion: OWN_VERSION, kind, metadata: { name, ...(kind === 'LocalQueue' ? { namespace } : {}) }, ...fields };
  try {
    const { apiVersion: _version, kind: _kind, metadata: _metadata, ...rest } = validate(resource, manifest, undefined, place);
    return rest;
  } catch (error) {
    if (error instanceof ChangeError) throw new ManifestError(error.message, { cause: error });
    throw error;
  }
}

const READY = { type: 'Ready', status: 'True', reason: 'Replayed', message: '' };

function checked(kind: SetupKind, body: Readonly<Record<string, unknown>>, place: string): Readonly<Record<string, unknown>> {
  const definition = SWITCHYARD_KINDS.find(({ resource }) => resource.kind === kind);
  if (definition === undefined) return body;
  const { value, left } = carry({ properties: definition.fields as Readonly<Record<string, FieldSchema>> }, body, '');
  const own = isJsonObject(value) ? value : {};
  const [unknown] = left;
  if (unknown !== undefined) {
    const why =
      unknown.why === 'NoField' ? `${unknown.path} is no field of it` : `${unknown.path} cannot be ${JSON.stringify(unknown.value)}`;
    throw new ManifestError(`${place}: ${why}; correct it`);
  }
  const problem = problemOf(definition, own);
  if (problem !== undefined) throw new ManifestError(`${place}: ${problem}`);
  return own;
}
