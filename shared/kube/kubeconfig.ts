import { existsSync, readFileSync } from 'node:fs';
import type { RequestOptions } from 'node:https';
import { delimiter, dirname, join, resolve } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { parse } from 'yaml';
import type { Clock } from '../runtime/clock.ts';
import type { ClusterAccess, Credentials } from './cluster-access.ts';

/** A kubeconfig that cannot be used, with what to do about it. */
export class KubeconfigError extends Error {
  override readonly name = 'KubeconfigError';
}

export type KubeconfigSource =
  /** One path, or several joined as in the KUBECONFIG variable: the first to name something wins. */
  | { readonly kind: 'file'; readonly path: string; readonly context?: string }
  /** The document itself, as in a Secret. */
  | { readonly kind: 'text'; readonly yaml: string; readonly context?: string }
  /** The service account of the pod this program runs in. */
  | { readonly kind: 'in-cluster' };

const SERVICE_ACCOUNT_TOKEN = '/var/run/secrets/kubernetes.io/serviceaccount/token';

/** Where kubectl would look: the KUBECONFIG variable, ~/.kube/config, the service account of the pod. */
export function defaultKubeconfigSource(environment: { readonly KUBECONFIG?: string; readonly HOME?: string }): KubeconfigSource {
  const { KUBECONFIG = '', HOME = '' } = environment;
  if (KUBECONFIG !== '') return { kind: 'file', path: KUBECONFIG };
  const inHome = join(HOME, '.kube', 'config');
  if (HOME !== '' && existsSync(inHome)) return { kind: 'file', path: inHome };
  if (existsSync(SERVICE_ACCOUNT_TOKEN)) return { kind: 'in-cluster' };
  throw new KubeconfigError('no kubeconfig found: name one with --kubeconfig or the KUBECONFIG variable');
}

/** How long read credentials are taken as current. Files and exec plugins are then asked again; they cache by themselves. */
const CREDENTIALS_FRESH_MS = 10_000;

/**
 * Address and credentials of the source's current (or named) context. Reading the kubeconfig and choosing the context
 * happen now; what rotates (token files, certificate files, exec plugins) is read again as time goes by, and at once
 * after `invalidate`.
 */
export function accessFromKubeconfig(source: KubeconfigSource, clock: Clock): ClusterAccess {
  let config = load(source);
  const { server, proxyUrl } = clusterOf(config);
  let outdated = false;
  let cached: { readonly credentials: Promise<Credentials>; readonly readAtMs: number } | undefined;
  return {
    server: server.replace(/\/+$/, ''),
    namespace: config.getContextObject(config.getCurrentContext())?.namespace ?? 'default',
    ...(proxyUrl === undefined ? {} : { proxyUrl }),
    credentials() {
      if (cached !== undefined && clock.now() - cached.readAtMs < CREDENTIALS_FRESH_MS) return cached.credentials;
      const read = { credentials: readAnew(), readAtMs: clock.now() };
      cached = read;
      read.credentials.catch(() => {
        // The failure is the caller's to report; the next request asks again.
        if (cached === read) cached = undefined;
      });
      return read.credentials;
    },
    invalidate() {
      cached = undefined;
      outdated = true;
    },
  };

  async function readAnew(): Promise<Credentials> {
    // Loaded again after a refusal, because an exec plugin's answer is cached inside the loaded config until it expires.
    if (outdated) config = load(source);
    outdated = false;
    return readCredentials(config);
  }
}

function load(source: KubeconfigSource): KubeConfig {
  if (source.kind === 'in-cluster') {
    const config = new KubeConfig();
    config.loadFromCluster();
    return config;
  }
  const config =
    source.kind === 'text'
      ? fromText(source.yaml, process.cwd())
      : source.path.split(delimiter).filter(Boolean).map(fromFile).reduce(merged);
  if (source.context !== undefined) config.setCurrentContext(source.context);
  allowPlainHttp(config);
  return config;
}

function fromFile(path: string): KubeConfig {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new KubeconfigError(`cannot read the kubeconfig ${path}`, { cause: error });
  }
  return fromText(text, dirname(resolve(path)));
}

function merged(first: KubeConfig, next: KubeConfig): KubeConfig {
  first.mergeConfig(next);
  return first;
}

function fromText(text: string, directory: string): KubeConfig {
  const config = new KubeConfig();
  try {
    config.loadFromString(JSON.stringify(withTokenFiles(parse(text), directory)));
  } catch (error) {
    throw new KubeconfigError('the kubeconfig is not valid', { cause: error });
  }
  config.makePathsAbsolute(directory);
  return config;
}

/** client-node reads a token file only as an auth provider; kubectl's field is `tokenFile` of the user. */
function withTokenFiles(document: unknown, directory: string): unknown {
  if (!isRecord(document)) throw new KubeconfigError('the kubeconfig is not a YAML mapping');
  if (!Array.isArray(document.users)) return document;
  const users = document.users.map((entry: unknown) => {
    if (!isRecord(entry) || !isRecord(entry.user)) return entry;
    const { tokenFile } = entry.user;
    if (typeof tokenFile !== 'string' || entry.user.token !== undefined) return entry;
    const provider = { name: 'tokenFile', config: { tokenFile: resolve(directory, tokenFile) } };
    return { ...entry, user: { ...entry.user, 'auth-provider': provider } };
  });
  return { ...document, users };
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null && !Array.isArray(value);

/** client-node refuses http:// servers that do not also skip the verification of a certificate they cannot have. */
function allowPlainHttp(config: KubeConfig): void {
  config.clusters = config.clusters.map((cluster) => (cluster.server.startsWith('http:') ? { ...cluster, skipTLSVerify: true } : cluster));
}

function clusterOf(config: KubeConfig): { readonly server: string; readonly proxyUrl?: string } {
  const contextName = config.getCurrentContext();
  const context = config.getContextObject(contextName);
  if (context === null) {
    const known = config.contexts.map((each) => each.name).join(', ');
    throw new KubeconfigError(
      `the kubeconfig has no context ${JSON.stringify(contextName ?? '')}; it has: ${known === '' ? 'none' : known}`,
    );
  }
  const cluster = config.getCluster(context.cluster);
  if (cluster === null)
    throw new KubeconfigError(
      `context ${JSON.stringify(context.name)} names the cluster ${JSON.stringify(context.cluster)}, which the kubeconfig lacks`,
    );
  return cluster;
}

async function readCredentials(config: KubeConfig): Promise<Credentials> {
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  const { ca, cert, key, passphrase, rejectUnauthorized, servername, auth } = options;
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(options.headers ?? {})) headers[name.toLowerCase()] = String(value).trim();
  if (typeof auth === 'string') headers.authorization = `Basic ${Buffer.from(auth).toString('base64')}`;
  const material = { ca, cert, key, passphrase, rejectUnauthorized, servername };
  return { headers, tls: Object.fromEntries(Object.entries(material).filter(([, value]) => value !== undefined)) };
}
