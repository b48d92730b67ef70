import { Errors } from 'typebox/value';
import { isJsonObject } from '../../api/json-value.ts';
import type { KindDefinition } from '../../api/kind-definition.ts';
import { SWITCHYARD_KINDS } from '../../api/kinds.ts';
import { DEFAULT_LOCAL_QUEUE, SWITCHYARD_GROUP, SWITCHYARD_VERSION } from '../../../shared/api/names.ts';
import { carry, type FieldSchema, type LeftBehind } from './carry.ts';
import { configurationFindings, queueDefaults } from './configuration.ts';
import { isConfiguration, ManifestError, type Manifest } from './documents.ts';
import type { Finding } from './findings.ts';
import { missingField, NEEDED_FLAGS, OLD_NAMES, specInNewWords, withoutDispatchChecks } from './kueue-fields.ts';
import { isDispatchCheck, skipped } from './other-kinds.ts';

/** Kueue's kinds of which Switchyard has its own, under the same name. */
export const TRANSLATED_KINDS = ['ResourceFlavor', 'ClusterQueue', 'Cohort', 'LocalQueue', 'WorkloadPriorityClass'] as const;
const VERSIONS = ['kueue.x-k8s.io/v1beta1', 'kueue.x-k8s.io/v1beta2'];

export type Translation = { readonly objects: readonly object[]; readonly findings: readonly Finding[] };

/**
 * Makes our objects of Kueue's. What is carried over is decided by our schemas, so that a field which they learn is translated from then
 * on. Throws {@link ManifestError} for what our API server would not take.
 */
export function translate(manifests: readonly Manifest[]): Translation {
  const dispatchChecks = new Set(manifests.flatMap((manifest) => (isDispatchCheck(manifest) ? [manifest.name] : [])));
  const defaults = queueDefaults(manifests);
  const translated = manifests.map((manifest) => translateOne(manifest, dispatchChecks, defaults));
  return { objects: translated.flatMap(({ objects }) => objects), findings: translated.flatMap(({ findings }) => findings) };
}

function translateOne(manifest: Manifest, dispatchChecks: ReadonlySet<string>, defaults: Readonly<Record<string, unknown>>): Translation {
  if (isConfiguration(manifest)) return { objects: [], findings: configurationFindings(manifest) };
  const { apiVersion, kind, name, fields, place } = manifest;
  const object = objectName(manifest);
  const definition = definitionOf(kind);
  if (definition === undefined || !apiVersion.startsWith('kueue.x-k8s.io/')) return { objects: [], findings: [skipped(manifest, object)] };
  if (!VERSIONS.includes(apiVersion)) {
    throw new ManifestError(
      `${place}: ${apiVersion} of ${object} is not read; convert it to ${VERSIONS.join(' or ')}, as kubectl get -o yaml shows it`,
    );
  }
  const { apiVersion: _version, kind: _kind, metadata, status: _status, ...given } = fields;
  const { spec } = given;
  const newer = apiVersion === VERSIONS[0] && isJsonObject(spec) ? specInNewWords(kind, spec) : spec;
  const body =
    kind === 'ClusterQueue' && isJsonObject(newer)
      ? { ...given, spec: { ...withoutDispatchChecks(newer, dispatchChecks), ...defaults } }
      : { ...given, ...(newer === undefined ? {} : { spec: newer }) };
  const carried = carry({ properties: definition.fields as Readonly<Record<string, FieldSchema>> }, body, '');
  const own = isJsonObject(carried.value) ? carried.value : {};
  const problem = problemOf(definition, own);
  if (problem !== undefined) throw new ManifestError(`${place}: ${object}: ${problem}`);
  const meta = metadataOf(metadata, name, definition.resource.namespaced);
  return {
    objects: [{ apiVersion: `${SWITCHYARD_GROUP}/${SWITCHYARD_VERSION}`, kind, metadata: meta.kept, ...own }],
    findings: [
      ...meta.lost.map((field): Finding => ({ kind: 'Lost', object, field, says: 'means nothing to Switchyard' })),
      ...carried.left.flatMap((left) => findingOf(manifest, object, left)),
      ...notesOn(kind, object, own),
    ],
  };
}

const definitionOf = (kind: string): KindDefinition | undefined =>
  TRANSLATED_KINDS.some((each) => each === kind) ? SWITCHYARD_KINDS.find(({ resource }) => resource.kind === kind) : undefined;

function objectName({ kind, name, fields }: Manifest): string {
  const namespace = isJsonObject(fields['metadata']) ? fields['metadata']['namespace'] : undefined;
  return typeof namespace === 'string' ? `${kind} ${namespace}/${name}` : `${kind} ${name}`;
}

function findingOf({ kind, fields }: Manifest, object: string, { path, value, why }: LeftBehind): Finding[] {
  const missing = missingField(kind, path);
  if (missing?.asksNothing?.(value) === true) return [];
  const otherwise = why === 'NoField' ? 'Switchyard has no such field' : `Switchyard has no ${JSON.stringify(value)} here`;
  return [{ kind: 'Lost', object, field: asWritten(path, fields), says: missing?.means ?? otherwise }];
}

/** The path that the reader of the manifest finds there. */
function asWritten(path: string, { spec }: Manifest['fields']): string {
  const old = OLD_NAMES[path];
  return old !== undefined && isJsonObject(spec) && spec[old.replace('spec.', '')] !== undefined ? old : path;
}

function notesOn(kind: string, object: string, own: Readonly<Record<string, unknown>>): Finding[] {
  const spec = isJsonObject(own['spec']) ? own['spec'] : {};
  const flags = (NEEDED_FLAGS[kind] ?? []).flatMap(({ field, flag, asksNothing }): Finding[] =>
    spec[field] === undefined || asksNothing(spec[field])
      ? []
      : [
          {
            kind: 'Note',
            object,
            field: `spec.${field}`,
            says: `counts where the manager runs with ${flag}; Kueue has that in its configuration`,
          },
        ],
  );
  if (spec['admissionChecksStrategy'] !== undefined)
    flags.push({
      kind: 'Note',
      object,
      field: 'spec.admissionChecksStrategy',
      says: 'has Jobs wait until controllers have told them, by conditions, that they may run (docs/admission-checks.md); controllers of Kueue’s checks tell Workloads. Checks that only dispatch are left out where their AdmissionCheck is read along',
    });
  if (kind === 'WorkloadPriorityClass' && object.endsWith(' default'))
    flags.push({
      kind: 'Note',
      object,
      says: 'is the class of Jobs that state no priority; in Kueue it is that where the feature gate WorkloadPriorityClassDefaulting is on',
    });
  if (kind === 'LocalQueue' && object.endsWith(`/${DEFAULT_LOCAL_QUEUE}`))
    flags.push({
      kind: 'Note',
      object,
      says: 'takes Jobs without a queue label where webhook.managedNamespaceSelector of the chart selects the namespace; in Kueue it does wherever it is',
    });
  if (kind !== 'ClusterQueue' || spec['namespaceSelector'] !== undefined) return flags;
  return [
    ...flags,
    {
      kind: 'Note',
      object,
      field: 'spec.namespaceSelector',
      says: 'is absent, which admits Jobs of no namespace, as in Kueue; {} admits all',
    },
  ];
}

const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

/** What a server has written into the metadata stays behind. */
function metadataOf(metadata: unknown, name: string, namespaced: boolean): { readonly kept: object; readonly lost: readonly string[] } {
  const given = isJsonObject(metadata) ? metadata : {};
  const lost: string[] = [];
  const kept: Record<string, unknown> = { name };
  if (namespaced && typeof given['namespace'] === 'string') kept['namespace'] = given['namespace'];
  for (const place of ['labels', 'annotations']) {
    const map = given[place];
    if (!isJsonObject(map)) continue;
    const others = Object.entries(map).filter(([key]) => key !== LAST_APPLIED);
    const ours = others.filter(([key]) => !key.startsWith('kueue.x-k8s.io/'));
    lost.push(...others.filter((entry) => !ours.includes(entry)).map(([key]) => `metadata.${place}[${key}]`));
    if (ours.length > 0) kept[place] = Object.fromEntries(ours);
  }
  return { kept, lost };
}

/** Why our API server would not take it, as far as that is a matter of its shape. */
/** What of an object its schema would not take; undefined where it takes all. */
export function problemOf(definition: KindDefinition, own: Readonly<Record<string, unknown>>): string | undefined {
  const missing = definition.required.find((field) => own[field] === undefined);
  if (missing !== undefined) return `${missing} is missing; write it`;
  for (const [field, value] of Object.entries(own)) {
    const schema = definition.fields[field];
    const error = schema === undefined ? undefined : Errors(schema, value)[0];
    if (error !== undefined) return `${field}${pathOf(error.instancePath)} ${error.message}; correct it`;
  }
  return undefined;
}

/** `/flavors/0/name` as `.flavors[0].name`. */
const pathOf = (pointer: string): string => pointer.replaceAll(/\/(\d+)(?=\/|$)/g, '[$1]').replaceAll('/', '.');
