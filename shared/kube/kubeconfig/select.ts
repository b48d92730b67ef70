import { impersonationHeaders } from './impersonation.ts';
import type { AuthProviderConfig, ClusterEntry, ExecConfig, Kubeconfig, UserEntry } from './kubeconfig.ts';
import { KubeconfigError } from './kubeconfig-error.ts';

/** One context of a kubeconfig with its cluster and user: all that is needed to reach an API server, checked as kubectl checks it. */
export type Selection = {
  /** Undefined when the context names none. */
  readonly namespace: string | undefined;
  readonly cluster: SelectedCluster;
  readonly user: SelectedUser;
};

export type SelectedCluster = {
  readonly server: string;
  readonly ca: Material | undefined;
  readonly skipTlsVerify: boolean;
  readonly tlsServerName: string | undefined;
  readonly proxyUrl: string | undefined;
  readonly execConfig: unknown;
};

export type SelectedUser = {
  /** What messages call it. */
  readonly who: string;
  readonly clientCertificate: { readonly certificate: Material; readonly key: Material } | undefined;
  readonly authentication: Authentication;
  readonly impersonationHeaders: Readonly<Record<string, string | string[]>>;
};

/** PEM text, or a file that holds it and may change. */
export type Material = { readonly kind: 'Text'; readonly pem: string } | { readonly kind: 'File'; readonly path: string };

export type Authentication =
  /** By client certificate, or not at all. */
  | { readonly kind: 'None' }
  | { readonly kind: 'Token'; readonly token: string }
  /** `fallback` counts while the file cannot be read. */
  | { readonly kind: 'TokenFile'; readonly path: string; readonly fallback: string | undefined }
  | { readonly kind: 'Basic'; readonly username: string; readonly password: string }
  | { readonly kind: 'Exec'; readonly plugin: ExecPluginConfig }
  | { readonly kind: 'AuthProvider'; readonly provider: AuthProviderConfig };

export type ExecPluginConfig = Omit<ExecConfig, 'apiVersion' | 'command' | 'interactiveMode'> & {
  readonly apiVersion: (typeof EXEC_VERSIONS)[number];
  readonly command: string;
  readonly interactiveMode: (typeof INTERACTIVE_MODES)[number];
};

const EXEC_VERSIONS = ['client.authentication.k8s.io/v1', 'client.authentication.k8s.io/v1beta1'] as const;
const INTERACTIVE_MODES = ['Never', 'IfAvailable', 'Always'] as const;

/**
 * The context of this name, else the current one. `origin` is what messages call the kubeconfig as a whole. Throws
 * {@link KubeconfigError} for what is missing in it or contradicts itself; entries that the context does not name may be as they like.
 */
export function selectContext(config: Kubeconfig, contextName: string | undefined, origin: string): Selection {
  const name = contextName ?? config.currentContext;
  const known = `it has: ${[...config.contexts.keys()].join(', ') || 'none'}`;
  if (name === undefined)
    throw new KubeconfigError(`${origin} sets no current-context; choose one with \`kubectl config use-context\` (${known})`);
  const context = config.contexts.get(name);
  if (context === undefined) throw new KubeconfigError(`${origin} has no context ${quoted(name)}; ${known}`);
  const at = `context ${quoted(name)} (${context.origin})`;
  if (context.cluster === undefined) throw new KubeconfigError(`${at} names no cluster; set its field cluster`);
  const cluster = config.clusters.get(context.cluster);
  if (cluster === undefined) throw missing(at, 'cluster', context.cluster);
  const user = context.user === undefined ? undefined : config.users.get(context.user);
  if (context.user !== undefined && user === undefined) throw missing(at, 'user', context.user);
  return {
    namespace: context.namespace,
    cluster: clusterOf(cluster, `cluster ${quoted(context.cluster)} (${cluster.origin})`),
    user: user === undefined ? anonymous(at) : userOf(user, `user ${quoted(context.user ?? '')} (${user.origin})`),
  };
}

/** Somebody without credentials. */
const anonymous = (who: string): SelectedUser => ({
  who,
  clientCertificate: undefined,
  authentication: { kind: 'None' },
  impersonationHeaders: {},
});

function missing(at: string, what: string, name: string): KubeconfigError {
  return new KubeconfigError(`${at} names the ${what} ${quoted(name)}, which the kubeconfig lacks; add it, or name another`);
}

function clusterOf(entry: ClusterEntry, at: string): SelectedCluster {
  const { skipTlsVerify, tlsServerName, proxyUrl, execConfig } = entry;
  if (entry.server === undefined || !isHttpUrl(entry.server))
    throw new KubeconfigError(`${at}: server is no http or https URL; write one, such as https://192.0.2.1:6443`);
  if (proxyUrl !== undefined && !isHttpUrl(proxyUrl))
    throw new KubeconfigError(`${at}: this proxy-url is not supported; use an http or https proxy, such as http://proxy.example:3128`);
  const ca = materialOf(entry.caPem, entry.caFile, 'certificate-authority', at);
  if (skipTlsVerify && ca !== undefined)
    throw new KubeconfigError(
      `${at}: insecure-skip-tls-verify leaves the certificate authority unused; remove one of the two, preferably the former`,
    );
  return { server: entry.server.replace(/\/+$/, ''), ca, skipTlsVerify, tlsServerName, proxyUrl, execConfig };
}

function userOf(entry: UserEntry, who: string): SelectedUser {
  const certificate = materialOf(entry.certificatePem, entry.certificateFile, 'client-certificate', who);
  const key = materialOf(entry.keyPem, entry.keyFile, 'client-key', who);
  if (certificate !== undefined && key === undefined)
    throw new KubeconfigError(`${who}: a client-certificate needs its key; set client-key or client-key-data`);
  if (key !== undefined && certificate === undefined)
    throw new KubeconfigError(`${who}: a client-key needs its certificate; set client-certificate or client-certificate-data`);
  const { impersonate } = entry;
  if (impersonate !== undefined && impersonate.user === undefined)
    throw new KubeconfigError(`${who}: as-uid, as-groups and as-user-extra need a user to act as; set the field as`);
  const clientCertificate = certificate && key && { certificate, key };
  return {
    who,
    clientCertificate,
    authentication: authenticationOf(entry, clientCertificate !== undefined, who),
    impersonationHeaders: impersonate === undefined ? {} : impersonationHeaders(impersonate),
  };
}

/** The order is client-go's: a plugin is not asked where the kubeconfig itself has credentials. */
function authenticationOf(entry: UserEntry, hasCertificate: boolean, who: string): Authentication {
  const { token, tokenFile, username, password, exec, authProvider } = entry;
  if (exec !== undefined && authProvider !== undefined)
    throw new KubeconfigError(`${who}: exec and auth-provider exclude each other; keep exec`);
  const plugin = exec && execPluginOf(exec, who);
  const hasToken = token !== undefined || tokenFile !== undefined;
  const hasBasic = username !== undefined || password !== undefined;
  if (hasToken && hasBasic)
    throw new KubeconfigError(`${who}: token and username with password exclude each other; keep one way to authenticate`);
  if (hasBasic && username === undefined) throw new KubeconfigError(`${who}: a password needs a username; set it, or remove the password`);
  if (tokenFile !== undefined) return { kind: 'TokenFile', path: tokenFile, fallback: token };
  if (token !== undefined) return { kind: 'Token', token };
  if (username !== undefined) return { kind: 'Basic', username, password: password ?? '' };
  if (plugin !== undefined && !hasCertificate) return { kind: 'Exec', plugin };
  if (authProvider !== undefined) return { kind: 'AuthProvider', provider: authProvider };
  return { kind: 'None' };
}

function execPluginOf(exec: ExecConfig, who: string): ExecPluginConfig {
  const apiVersion = EXEC_VERSIONS.find((version) => version === exec.apiVersion);
  if (apiVersion === undefined) throw new KubeconfigError(`${who}: exec.apiVersion is not supported; write ${EXEC_VERSIONS.join(' or ')}`);
  const { command } = exec;
  if (command === undefined) throw new KubeconfigError(`${who}: exec.command is missing; name the program that prints credentials`);
  if (exec.env.some(({ name }) => name === '')) throw new KubeconfigError(`${who}: an entry of exec.env has no name; give it one`);
  // client-go asks for the field in v1; what it means where it is absent is plain enough to go on.
  const interactiveMode = INTERACTIVE_MODES.find((mode) => mode === (exec.interactiveMode ?? 'IfAvailable'));
  if (interactiveMode === undefined)
    throw new KubeconfigError(`${who}: exec.interactiveMode is unknown; write ${INTERACTIVE_MODES.join(', ')}`);
  return { ...exec, apiVersion, command, interactiveMode };
}

function materialOf(pem: string | undefined, path: string | undefined, field: string, at: string): Material | undefined {
  if (pem !== undefined && path !== undefined)
    throw new KubeconfigError(`${at}: ${field} and ${field}-data are both set; keep one of them`);
  if (pem !== undefined) return { kind: 'Text', pem };
  return path === undefined ? undefined : { kind: 'File', path };
}

const isHttpUrl = (text: string): boolean => /^https?:\/\//.test(text) && URL.canParse(text);

const quoted = (name: string): string => JSON.stringify(name);
