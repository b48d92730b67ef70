import { isJsonObject } from '../../api/json-value.ts';
import { SWITCHYARD_KINDS } from '../../api/kinds.ts';
import { SETUP_KINDS, type LoggedObject, type SetupKind } from '../../admission/decision-log.ts';
import { SWITCHYARD_GROUP, SWITCHYARD_VERSION } from '../../../shared/api/names.ts';
import { given } from '../../../shared/runtime/given.ts';
import { carry, type FieldSchema } from '../import-kueue/carry.ts';
import { ManifestError, readManifests, type Manifest } from '../import-kueue/documents.ts';
import { problemOf } from '../import-kueue/translate.ts';

const OWN_VERSION = `${SWITCHYARD_GROUP}/${SWITCHYARD_VERSION}`;
/** Kinds of Kubernetes that decisions depend on. */
const OTHER_VERSIONS: Readonly<Partial<Record<SetupKind, string>>> = { PriorityClass: 'scheduling.k8s.io/v1', Namespace: 'v1' };

/**
 * The objects of a text of manifests, checked against the schemas of their kinds: a field that a kind does not have is refused here, which an API server would drop.
 * Rules over several fields only an API server checks. Throws {@link ManifestError}.
 */
export function setupObjectsIn(file: string, text: string, kinds: readonly SetupKind[] = SETUP_KINDS): LoggedObject[] {
  return readManifests(file, text).map((manifest) => setupObject(manifest, kinds));
}

function setupObject({ apiVersion, kind: named, name, fields, place }: Manifest, kinds: readonly SetupKind[]): LoggedObject {
  const kind = kinds.find((each) => each === named);
  const wanted = kind && (OTHER_VERSIONS[kind] ?? OWN_VERSION);
  if (kind === undefined || apiVersion !== wanted) {
    const instead = apiVersion.startsWith('kueue.x-k8s.io/') ? '; translate it with switchyard import kueue' : '';
    throw new ManifestError(`${place}: ${apiVersion} ${named} is no part of the setup here; there may be ${kinds.join(', ')}${instead}`);
  }
  const object = `${kind} ${name}`;
  const { apiVersion: _version, kind: _kind, metadata, status, ...body } = fields;
  const own = OTHER_VERSIONS[kind] === undefined ? checked(kind, body, `${place}: ${object}`) : body;
  const { namespace, labels } = isJsonObject(metadata) ? metadata : {};
  if (kind === 'LocalQueue' && typeof namespace !== 'string')
    throw new ManifestError(`${place}: ${object}: metadata.namespace is missing; name its namespace`);
  if (kind === 'PriorityClass' && typeof body['value'] !== 'number')
    throw new ManifestError(`${place}: ${object}: value is missing; write a whole number`);
  return {
    kind,
    metadata: {
      name,
      ...given({
        namespace: kind === 'LocalQueue' && typeof namespace === 'string' ? namespace : undefined,
        labels: isJsonObject(labels) ? (labels as Readonly<Record<string, string>>) : undefined,
      }),
    },
    ...own,
    // Nobody has written what a new cluster tells of itself: it is taken on trust.
    ...(kind === 'WorkerCluster' ? { status: isJsonObject(status) ? status : { conditions: [READY] } } : {}),
  };
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
