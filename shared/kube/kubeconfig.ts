import { existsSync, readFileSync } from 'node:fs';
import { delimiter, dirname, join, resolve } from 'node:path';
import { isatty } from 'node:tty';
import type { Clock } from '../runtime/clock.ts';
import type { ClusterAccess, Credentials } from './cluster-access.ts';
import { inClusterSelection } from './kubeconfig/in-cluster.ts';
import type { Kubeconfig } from './kubeconfig/kubeconfig.ts';
import { KubeconfigError } from './kubeconfig/kubeconfig-error.ts';
import { mergeKubeconfigs } from './kubeconfig/merge.ts';
import { parseKubeconfig } from './kubeconfig/parse.ts';
import { createCredentialsReader } from './kubeconfig/read-credentials.ts';
import { selectContext, type Selection } from './kubeconfig/select.ts';

export type KubeconfigSource =
  /** One path, or several joined as in the KUBECONFIG variable: the first to name something wins. */
  | { readonly kind: 'file'; readonly path: string; readonly context?: string }
  /** The document itself, as in a Secret. */
  | { readonly kind: 'text'; readonly yaml: string; readonly context?: string }
  /** The service account of the pod this program runs in. `host` and `port` are those that Kubernetes tells every container. */
  | { readonly kind: 'in-cluster'; readonly host: string; readonly port: string; readonly directory: string };

const SERVICE_ACCOUNT_DIRECTORY = '/var/run/secrets/kubernetes.io/serviceaccount';

export type KubeconfigEnvironment = {
  readonly KUBECONFIG?: string;
  readonly HOME?: string;
  readonly KUBERNETES_SERVICE_HOST?: string;
  readonly KUBERNETES_SERVICE_PORT?: string;
};

/** Where kubectl would look: the KUBECONFIG variable, ~/.kube/config, the service account of the pod. */
export function defaultKubeconfigSource(
  environment: KubeconfigEnvironment,
  serviceAccountDirectory = SERVICE_ACCOUNT_DIRECTORY,
): KubeconfigSource {
  const { KUBECONFIG = '', HOME = '', KUBERNETES_SERVICE_HOST: host = '', KUBERNETES_SERVICE_PORT: port = '' } = environment;
  if (KUBECONFIG !== '') return { kind: 'file', path: KUBECONFIG };
  const inHome = join(HOME, '.kube', 'config');
  if (HOME !== '' && existsSync(inHome)) return { kind: 'file', path: inHome };
  if (existsSync(join(serviceAccountDirectory, 'token'))) return { kind: 'in-cluster', host, port, directory: serviceAccountDirectory };
  throw new KubeconfigError('no kubeconfig found: name one with --kubeconfig or the KUBECONFIG variable');
}

/**
 * How long read credentials are taken as current. Files are then read again, and plugins asked for what has expired. It is also the
 * least time between two readings that refusals ask for, so that a server that refuses everything does not start a plugin per request.
 */
const CREDENTIALS_FRESH_MS = 10_000;
const STANDARD_INPUT = 0;

/**
 * Address and credentials of the source's current (or named) context. Reading the kubeconfig and choosing the context
 * happen now; what rotates (token files, certificate files, exec plugins) is read again as time goes by, and everything at once
 * after `invalidate`. Throws {@link KubeconfigError} when the kubeconfig cannot be used.
 */
export function accessFromKubeconfig(source: KubeconfigSource, clock: Clock): ClusterAccess {
  const plugins = { clock, environment: process.env, interactive: isatty(STANDARD_INPUT) };
  const selection = load(source);
  const { cluster, namespace } = selection;
  let read = createCredentialsReader(selection, plugins);
  let reading: Promise<Credentials> | undefined;
  let current: Credentials | undefined;
  let freshUntilMs = 0;
  /** The server has refused what was read last. */
  let refused = false;
  /** The next reading is not to wait until what was read last is no longer fresh. */
  let hurried = false;
  let hurriedAtMs = Number.NEGATIVE_INFINITY;
  return {
    server: cluster.server,
    namespace: namespace ?? 'default',
    ...(cluster.proxyUrl === undefined ? {} : { proxyUrl: cluster.proxyUrl }),
    credentials() {
      if (current !== undefined && !hurried && clock.now() < freshUntilMs) return Promise.resolve(current);
      reading ??= readAnew().finally(() => (reading = undefined));
      return reading;
    },
    invalidate(credentials) {
      // Whoever was refused with what has been replaced since need not tell anybody.
      if (credentials !== current) return;
      refused = true;
      if (clock.now() - hurriedAtMs < CREDENTIALS_FRESH_MS) return;
      hurriedAtMs = clock.now();
      hurried = true;
    },
  };

  async function readAnew(): Promise<Credentials> {
    hurried = false;
    // Until this has ended well, whoever asks waits for it.
    freshUntilMs = 0;
    if (refused) {
      // The kubeconfig may have been written anew, and a plugin is to be asked though its answer has not expired.
      const now = load(source);
      if (now.cluster.server !== cluster.server)
        throw new KubeconfigError(`${nameOf(source)} names another server by now; start this program again to use it`);
      read = createCredentialsReader(now, plugins);
      refused = false;
    }
    const { credentials, expiresAtMs = Number.POSITIVE_INFINITY } = await read();
    freshUntilMs = Math.min(clock.now() + CREDENTIALS_FRESH_MS, expiresAtMs);
    current = credentials;
    return credentials;
  }
}

function load(source: KubeconfigSource): Selection {
  switch (source.kind) {
    case 'in-cluster':
      return inClusterSelection(source);
    case 'text':
      return selectContext(
        parseKubeconfig(source.yaml, { name: nameOf(source), directory: process.cwd() }),
        source.context,
        nameOf(source),
      );
    case 'file':
      return selectContext(fromFiles(source.path), source.context, nameOf(source));
  }
}

function nameOf(source: KubeconfigSource): string {
  return source.kind === 'file' ? `the kubeconfig ${source.path}` : 'the kubeconfig';
}

/** Of several files some may be missing, as kubectl permits for KUBECONFIG, but not all. */
function fromFiles(paths: string): Kubeconfig {
  const files = paths.split(delimiter).filter((path) => path !== '');
  const present = files.length === 1 ? files : files.filter((path) => existsSync(path));
  if (present.length === 0)
    throw new KubeconfigError(`cannot read the kubeconfig ${paths}: none of these files exists; name one that does`);
  return mergeKubeconfigs(present.map(fromFile));
}

function fromFile(path: string): Kubeconfig {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new KubeconfigError(`cannot read the kubeconfig ${path}: ${reasonOf(error)}; name a file that this program may read`, {
      cause: error,
    });
  }
  return parseKubeconfig(text, { name: `the kubeconfig ${path}`, directory: dirname(resolve(path)) });
}

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
