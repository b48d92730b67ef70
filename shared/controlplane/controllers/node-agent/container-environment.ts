import type { ConfigMap, Container, DeepReadonly, Pod, Secret } from '../../../api/kubernetes.ts';
import { parseQuantity } from '../../../kube/quantity.ts';

/** What a container is started with, all references resolved. */
export type ContainerCommand = {
  /** The program and its arguments; empty when the container names no command. */
  readonly words: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
};

/** Objects that the containers of a pod take values from. `undefined`: there is none of that name. */
export type ConfigSources = {
  configMap(name: string): DeepReadonly<ConfigMap> | undefined;
  secret(name: string): DeepReadonly<Secret> | undefined;
};

/** A reference that cannot be resolved now; the container waits for it, with this message. */
export class MissingConfig extends Error {
  override readonly name = 'MissingConfig';
}

/** Names of the ConfigMaps and Secrets that a container refers to. */
export function referencedConfig(container: DeepReadonly<Container>): { configMaps: Set<string>; secrets: Set<string> } {
  const configMaps = new Set<string>();
  const secrets = new Set<string>();
  for (const { configMapRef, secretRef } of container.envFrom ?? []) {
    if (configMapRef?.name !== undefined) configMaps.add(configMapRef.name);
    if (secretRef?.name !== undefined) secrets.add(secretRef.name);
  }
  for (const { valueFrom } of container.env ?? []) {
    if (valueFrom?.configMapKeyRef?.name !== undefined) configMaps.add(valueFrom.configMapKeyRef.name);
    if (valueFrom?.secretKeyRef?.name !== undefined) secrets.add(valueFrom.secretKeyRef.name);
  }
  return { configMaps, secrets };
}

/**
 * Command, arguments and environment of a container, as kubelet makes them: envFrom, then env, then `$(NAME)` in both and in the command.
 */
export function resolveCommand(pod: DeepReadonly<Pod>, container: DeepReadonly<Container>, sources: ConfigSources): ContainerCommand {
  const environment: Record<string, string> = { HOSTNAME: pod.spec.hostname ?? pod.metadata.name };
  for (const source of container.envFrom ?? []) Object.assign(environment, importAll(source, sources));
  for (const variable of container.env ?? []) {
    const value =
      variable.valueFrom === undefined
        ? expand(variable.value ?? '', environment)
        : referencedValue(variable.valueFrom, pod, container, sources);
    if (value !== undefined) environment[variable.name] = value;
  }
  const words = container.command === undefined ? [] : [...container.command, ...(container.args ?? [])];
  return { words: words.map((word) => expand(word, environment)), environment };
}

type EnvFrom = NonNullable<DeepReadonly<Container>['envFrom']>[number];
type ValueFrom = NonNullable<NonNullable<DeepReadonly<Container>['env']>[number]['valueFrom']>;

function importAll({ prefix = '', configMapRef, secretRef }: EnvFrom, sources: ConfigSources): Record<string, string> {
  const entries: [string, string][] = [];
  if (configMapRef !== undefined) {
    const map = sources.configMap(configMapRef.name ?? '');
    if (map === undefined && configMapRef.optional !== true) throw new MissingConfig(`configmap "${configMapRef.name ?? ''}" not found`);
    entries.push(...Object.entries(map?.data ?? {}));
  }
  if (secretRef !== undefined) {
    const secret = sources.secret(secretRef.name ?? '');
    if (secret === undefined && secretRef.optional !== true) throw new MissingConfig(`secret "${secretRef.name ?? ''}" not found`);
    entries.push(...Object.entries(secret?.data ?? {}).map(([key, value]): [string, string] => [key, decode(value)]));
  }
  return Object.fromEntries(entries.map(([key, value]) => [prefix + key, value]));
}

function referencedValue(
  from: ValueFrom,
  pod: DeepReadonly<Pod>,
  container: DeepReadonly<Container>,
  sources: ConfigSources,
): string | undefined {
  const { fieldRef, resourceFieldRef, configMapKeyRef, secretKeyRef } = from;
  if (fieldRef !== undefined) return fieldValue(pod, fieldRef.fieldPath);
  if (resourceFieldRef !== undefined) return resourceValue(container, resourceFieldRef);
  if (configMapKeyRef !== undefined) {
    const { name = '', key, optional } = configMapKeyRef;
    const configMap = sources.configMap(name);
    if (configMap === undefined && optional !== true) throw new MissingConfig(`configmap ${JSON.stringify(name)} not found`);
    const value = configMap?.data?.[key];
    if (value === undefined && optional !== true)
      throw new MissingConfig(`couldn't find key ${key} in ConfigMap ${pod.metadata.namespace}/${name}`);
    return value;
  }
  if (secretKeyRef !== undefined) {
    const { name = '', key, optional } = secretKeyRef;
    const secret = sources.secret(name);
    if (secret === undefined && optional !== true) throw new MissingConfig(`secret ${JSON.stringify(name)} not found`);
    const value = secret?.data?.[key];
    if (value === undefined && optional !== true)
      throw new MissingConfig(`couldn't find key ${key} in Secret ${pod.metadata.namespace}/${name}`);
    return value === undefined ? undefined : decode(value);
  }
  return undefined;
}

const decode = (base64: string): string => Buffer.from(base64, 'base64').toString('utf8');

/** The downward API's fields. An absent label or annotation is ''. */
export function fieldValue({ metadata, spec, status }: DeepReadonly<Pod>, path: string): string {
  const keyed = /^metadata\.(labels|annotations)\['(.*)'\]$/.exec(path);
  if (keyed?.[2] !== undefined) return metadata[keyed[1] === 'labels' ? 'labels' : 'annotations']?.[keyed[2]] ?? '';
  switch (path) {
    case 'metadata.name':
      return metadata.name;
    case 'metadata.namespace':
      return metadata.namespace;
    case 'metadata.uid':
      return metadata.uid;
    case 'spec.nodeName':
      return spec.nodeName ?? '';
    case 'spec.serviceAccountName':
      return spec.serviceAccountName ?? '';
    case 'status.hostIP':
    case 'status.hostIPs':
      return status?.hostIP ?? '';
    case 'status.podIP':
    case 'status.podIPs':
      return status?.podIP ?? '';
    default:
      throw new MissingConfig(`unsupported fieldPath: ${path}`);
  }
}

function resourceValue(
  container: DeepReadonly<Container>,
  { resource, divisor = '1' }: { readonly resource: string; readonly divisor?: string },
): string {
  const [kind = '', name = ''] = resource.split('.');
  const amounts = kind === 'limits' ? (container.resources?.limits ?? container.resources?.requests) : container.resources?.requests;
  const value = parseQuantity(amounts?.[name] ?? '0').nanos;
  const unit = parseQuantity(divisor).nanos || parseQuantity('1').nanos;
  return String((value + unit - 1n) / unit);
}

/** `$(NAME)` becomes the value of a known variable and stays as it is for an unknown one; `$$` is a dollar sign. */
export const expand = (text: string, environment: Readonly<Record<string, string>>): string =>
  text.replaceAll(/\$\$|\$\(([^)]*)\)/g, (match, name: string | undefined) =>
    name === undefined ? '$' : Object.hasOwn(environment, name) ? (environment[name] ?? match) : match,
  );
