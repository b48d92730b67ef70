import { parseAllDocuments } from 'yaml';
import { isJsonObject } from '../../api/json-value.ts';

/** An object of a manifest, of whatever kind. */
export type Manifest = {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly fields: Readonly<Record<string, unknown>>;
  /** Where it stands, for people: `queues.yaml, document 2`. */
  readonly place: string;
};

/** What cannot be read, in words that name the place and the remedy. */
export class ManifestError extends Error {
  override readonly name = 'ManifestError';
}

/** The objects of a text of YAML documents, those of lists one by one. Empty documents are none. Throws {@link ManifestError}. */
export function readManifests(file: string, text: string): Manifest[] {
  return parseAllDocuments(text, { merge: true }).flatMap((document, index) => {
    const place = `${file}, document ${index + 1}`;
    const [error] = document.errors;
    if (error !== undefined) throw new ManifestError(`${place}: this is no YAML: ${error.message.split('\n')[0] ?? ''}`);
    return manifestsOf(toJson(document, place), place);
  });
}

function toJson(document: { toJS(): unknown }, place: string): unknown {
  try {
    return document.toJS();
  } catch (error) {
    // An alias of nothing, or of far too much.
    throw new ManifestError(`${place}: this is no YAML: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}

function manifestsOf(value: unknown, place: string): Manifest[] {
  if (value === null || value === undefined) return [];
  if (!isJsonObject(value)) throw new ManifestError(`${place}: this is no object; write one with apiVersion, kind and metadata`);
  const { apiVersion, kind, metadata, items } = value;
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') {
    throw new ManifestError(`${place}: apiVersion or kind is missing; write both, such as kueue.x-k8s.io/v1beta2 and ClusterQueue`);
  }
  if (kind.endsWith('List') && Array.isArray(items))
    return items.flatMap((item, index) => manifestsOf(item, `${place}, item ${index + 1}`));
  const inside = kind === 'ConfigMap' ? configurationsIn(value['data'], place) : [];
  if (inside.length > 0) return inside;
  const name = isConfiguration({ apiVersion, kind }) ? kind : isJsonObject(metadata) ? metadata['name'] : undefined;
  if (typeof name !== 'string' || name === '') throw new ManifestError(`${place}: metadata.name is missing; name the ${kind}`);
  return [{ apiVersion, kind, name, fields: value, place }];
}

/** Whether it is the configuration of Kueue's manager, which is no object of the API and has no name. */
export const isConfiguration = ({ apiVersion, kind }: Pick<Manifest, 'apiVersion' | 'kind'>): boolean =>
  kind === 'Configuration' && apiVersion.startsWith('config.kueue.x-k8s.io/');

/** The configurations in a ConfigMap, such as Kueue's own kueue-manager-config. */
function configurationsIn(data: unknown, place: string): Manifest[] {
  if (!isJsonObject(data)) return [];
  return Object.entries(data).flatMap(([key, text]) =>
    typeof text === 'string' && text.includes('config.kueue.x-k8s.io/') ? readManifests(`${place}, ${key}`, text) : [],
  );
}
