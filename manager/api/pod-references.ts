import type { DeepReadonly, PodSpec } from '../../shared/api/kubernetes.ts';
import type { CarriedKind } from './carried-kinds.ts';

/** A ConfigMap or Secret of its own namespace that a pod refers to. Optional: the pod starts without the object. */
export type PodReference = {
  readonly kind: 'ConfigMap' | 'Secret';
  readonly name: string;
  readonly optional: boolean;
  /** Digest of the content that the object must have: an attachment (attachments.ts), which always travels. */
  readonly content?: string;
};

/** The kind in the plural, as users name it. */
export const carriedKindOf = ({ kind }: Pick<PodReference, 'kind'>): CarriedKind => `${kind}s`;

/** References to objects of these kinds, and to attachments. */
export const carriedReferences = (references: readonly PodReference[], carry: readonly CarriedKind[]): readonly PodReference[] =>
  references.filter((reference) => reference.content !== undefined || carry.includes(carriedKindOf(reference)));

/** `configmap team/settings` */
export const formatReference = (namespace: string, { kind, name }: Pick<PodReference, 'kind' | 'name'>): string =>
  `${kind.toLowerCase()} ${namespace}/${name}`;

/** A text that tells objects of a namespace apart. */
export const referenceKey = ({ kind, name }: { readonly kind: string; readonly name: string }): string => `${kind}/${name}`;

/**
 * The ConfigMaps and Secrets that the pods refer to in volumes, projected volumes, `env`, `envFrom` and `imagePullSecrets`, each once. An
 * object is optional if all references to it are.
 */
export function podReferences(spec: DeepReadonly<PodSpec> | undefined): readonly PodReference[] {
  if (spec === undefined) return [];
  const found = new Map<string, PodReference>();
  mapReferences(spec, (reference) => {
    const key = referenceKey(reference);
    const known = found.get(key);
    if (known === undefined || (known.optional && !reference.optional)) found.set(key, reference);
    return reference.name;
  });
  return [...found.values()];
}

/** The same pods with other names of objects; a name that `nameOf` does not know stays. */
export const withReferences = (
  spec: DeepReadonly<PodSpec>,
  nameOf: (reference: PodReference) => string | undefined,
): DeepReadonly<PodSpec> => mapReferences(spec, (reference) => nameOf(reference) ?? reference.name);

type Rename = (reference: PodReference) => string;
type Container = NonNullable<DeepReadonly<PodSpec>['containers']>[number];
type Volume = NonNullable<DeepReadonly<PodSpec>['volumes']>[number];
type Named = { readonly name?: string | undefined; readonly optional?: boolean | undefined };

/** Fields that clients send may be anything: what is no list of objects stays as it is, and the API server refuses it. */
const each = <T extends object>(list: readonly T[], map: (item: T) => T): readonly T[] =>
  Array.isArray(list) ? (list as readonly T[]).map((item) => (typeof item === 'object' && item !== null ? map(item) : item)) : list;

function mapReferences(spec: DeepReadonly<PodSpec>, rename: Rename): DeepReadonly<PodSpec> {
  const { containers, initContainers, volumes, imagePullSecrets } = spec;
  return {
    ...spec,
    ...(containers ? { containers: each(containers, (container) => mapContainer(container, rename)) } : {}),
    ...(initContainers ? { initContainers: each(initContainers, (container) => mapContainer(container, rename)) } : {}),
    ...(volumes ? { volumes: each(volumes, (volume) => mapVolume(volume, rename)) } : {}),
    ...(imagePullSecrets ? { imagePullSecrets: each(imagePullSecrets, (named) => renamed(named, 'Secret', rename)) } : {}),
  };
}

function mapContainer(container: Container, rename: Rename): Container {
  const { env, envFrom } = container;
  return {
    ...container,
    ...(env
      ? {
          env: each(env, (variable) => {
            const { configMapKeyRef, secretKeyRef } = variable.valueFrom ?? {};
            if (!configMapKeyRef && !secretKeyRef) return variable;
            return {
              ...variable,
              valueFrom: {
                ...variable.valueFrom,
                ...(configMapKeyRef ? { configMapKeyRef: renamed(configMapKeyRef, 'ConfigMap', rename) } : {}),
                ...(secretKeyRef ? { secretKeyRef: renamed(secretKeyRef, 'Secret', rename) } : {}),
              },
            };
          }),
        }
      : {}),
    ...(envFrom ? { envFrom: each(envFrom, (source) => mapSources(source, 'configMapRef', 'secretRef', rename)) } : {}),
  };
}

function mapVolume(volume: Volume, rename: Rename): Volume {
  const { configMap, secret, projected } = volume;
  const sources = projected?.sources;
  return {
    ...volume,
    ...(configMap ? { configMap: renamed(configMap, 'ConfigMap', rename) } : {}),
    ...(secret ? { secret: renamedSecret(secret, rename) } : {}),
    ...(projected && sources
      ? { projected: { ...projected, sources: each(sources, (source) => mapSources(source, 'configMap', 'secret', rename)) } }
      : {}),
  };
}

function mapSources<T extends object>(source: T, configMapField: keyof T & string, secretField: keyof T & string, rename: Rename): T {
  const configMap = source[configMapField] as Named | null | undefined;
  const secret = source[secretField] as Named | null | undefined;
  return {
    ...source,
    ...(configMap ? { [configMapField]: renamed(configMap, 'ConfigMap', rename) } : {}),
    ...(secret ? { [secretField]: renamed(secret, 'Secret', rename) } : {}),
  };
}

const renamed = <T extends Named>(named: T, kind: PodReference['kind'], rename: Rename): T =>
  named.name === undefined || named.name === ''
    ? named
    : { ...named, name: rename({ kind, name: named.name, optional: named.optional === true }) };

/** A volume names its Secret in a field of its own. */
const renamedSecret = <T extends { readonly secretName?: string | undefined; readonly optional?: boolean | undefined }>(
  secret: T,
  rename: Rename,
): T =>
  secret.secretName === undefined || secret.secretName === ''
    ? secret
    : { ...secret, secretName: rename({ kind: 'Secret', name: secret.secretName, optional: secret.optional === true }) };
