import { Fields } from './fields.ts';
import type { AuthProviderConfig, ClusterEntry, ContextEntry, ExecConfig, Impersonation, Kubeconfig, UserEntry } from './kubeconfig.ts';
import { readYamlDocument } from './yaml-document.ts';

/** Where a kubeconfig comes from: what messages call it, and the directory that its relative paths start from. */
export type KubeconfigOrigin = { readonly name: string; readonly directory: string };

/**
 * The document as plain data. Fields that kubectl does not know are left out, wherever they stand. Throws {@link KubeconfigError}
 * naming the field for what is not YAML or has the wrong type.
 */
export function parseKubeconfig(text: string, origin: KubeconfigOrigin): Kubeconfig {
  // An empty file is an empty kubeconfig, as for kubectl.
  const document = Fields.of(readYamlDocument(text, origin.name) ?? {}, origin.name);
  document.isAtMost('kind', 'Config');
  document.isAtMost('apiVersion', 'v1');
  return {
    currentContext: document.text('current-context'),
    contexts: byName(document, 'contexts', 'context', (fields) => contextOf(fields, origin)),
    clusters: byName(document, 'clusters', 'cluster', (fields) => clusterOf(fields, origin)),
    users: byName(document, 'users', 'user', (fields) => userOf(fields, origin)),
  };
}

function contextOf(fields: Fields, { name }: KubeconfigOrigin): ContextEntry {
  return { origin: name, cluster: fields.text('cluster'), user: fields.text('user'), namespace: fields.text('namespace') };
}

const EXEC_EXTENSION = 'client.authentication.k8s.io/exec';

function clusterOf(fields: Fields, { name, directory }: KubeconfigOrigin): ClusterEntry {
  const extension = fields.records('extensions').find((each) => each.text('name') === EXEC_EXTENSION);
  return {
    origin: name,
    server: fields.text('server'),
    caFile: absolute(directory, fields.text('certificate-authority')),
    caPem: fields.base64('certificate-authority-data'),
    skipTlsVerify: fields.truth('insecure-skip-tls-verify'),
    tlsServerName: fields.text('tls-server-name'),
    proxyUrl: fields.text('proxy-url'),
    execConfig: extension?.value('extension'),
  };
}

function userOf(fields: Fields, { name, directory }: KubeconfigOrigin): UserEntry {
  return {
    origin: name,
    token: fields.text('token'),
    tokenFile: absolute(directory, fields.text('tokenFile')),
    username: fields.text('username'),
    password: fields.text('password'),
    certificateFile: absolute(directory, fields.text('client-certificate')),
    certificatePem: fields.base64('client-certificate-data'),
    keyFile: absolute(directory, fields.text('client-key')),
    keyPem: fields.base64('client-key-data'),
    impersonate: impersonationOf(fields),
    exec: execOf(fields.record('exec'), directory),
    authProvider: authProviderOf(fields.record('auth-provider')),
  };
}

function impersonationOf(fields: Fields): Impersonation | undefined {
  const extra = fields.record('as-user-extra');
  const impersonation = {
    user: fields.text('as'),
    uid: fields.text('as-uid'),
    groups: fields.texts('as-groups'),
    extra: new Map(extra?.names().map((name) => [name, extra.texts(name)])),
  };
  const { user, uid, groups } = impersonation;
  return user === undefined && uid === undefined && groups.length === 0 && impersonation.extra.size === 0 ? undefined : impersonation;
}

function execOf(fields: Fields | undefined, directory: string): ExecConfig | undefined {
  if (fields === undefined) return undefined;
  const command = fields.text('command');
  return {
    apiVersion: fields.text('apiVersion'),
    // A bare name is looked up on the PATH, as kubectl does.
    command: command?.includes('/') === true ? absolute(directory, command) : command,
    args: fields.texts('args'),
    env: fields.records('env').map((each) => ({ name: each.text('name') ?? '', value: each.text('value') ?? '' })),
    installHint: fields.text('installHint'),
    provideClusterInfo: fields.truth('provideClusterInfo'),
    interactiveMode: fields.text('interactiveMode'),
  };
}

function authProviderOf(fields: Fields | undefined): AuthProviderConfig | undefined {
  return fields && { name: fields.text('name') ?? '', config: fields.record('config')?.all() ?? {} };
}

function absolute(directory: string, path: string | undefined): string | undefined {
  return path === undefined || path.startsWith('/') ? path : `${directory}/${path}`;
}

/** The entries of a list such as `clusters: [{name, cluster: {...}}]`. */
function byName<T>(document: Fields, list: string, entry: string, read: (fields: Fields) => T): ReadonlyMap<string, T> {
  const entries = new Map<string, T>();
  for (const each of document.records(list)) {
    const name = each.text('name');
    if (name === undefined) throw each.problem('name', 'is missing');
    if (entries.has(name)) throw each.problem('name', `is ${JSON.stringify(name)} twice; keep one of the two`);
    entries.set(name, read(each.record(entry) ?? each.without(entry)));
  }
  return entries;
}
