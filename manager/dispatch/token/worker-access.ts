import { Fields } from '../../../shared/kube/kubeconfig/fields.ts';
import { KubeconfigError } from '../../../shared/kube/kubeconfig/kubeconfig-error.ts';
import { readYamlDocument } from '../../../shared/kube/kubeconfig/yaml-document.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';

/** All that a kubeconfig in a Secret can say about a worker cluster. */
export type WorkerAccess = { readonly endpoint: WorkerEndpoint; readonly credentials: WorkerCredentials };

export type WorkerEndpoint = {
  /** An https URL without a trailing slash. */
  readonly server: string;
  /** Absent: the certificate authorities that this process trusts. */
  readonly caPem?: string;
  readonly tlsServerName?: string;
};

/** A token, a client certificate, or both. */
export type WorkerCredentials = {
  readonly token?: string;
  readonly certificate?: { readonly certificatePem: string; readonly keyPem: string };
};

const ORIGIN = 'the kubeconfig';
/** Several times the length that kubectl writes with the longest certificates. */
const CHARACTERS_MAX = 128 * 1024;

/**
 * Reads the access to a worker cluster from the kubeconfig of a Secret: the current context, rebuilt from the few fields that are allowed.
 * A user who may write the Secret must not make the manager read files, run programs, use a proxy, or connect to a server without a check
 * of its certificate. Throws {@link KubeconfigError} with field and remedy; the message contains no text of the kubeconfig.
 */
export function readWorkerAccess(kubeconfig: string): WorkerAccess {
  if (kubeconfig.length > CHARACTERS_MAX)
    throw new KubeconfigError(`${ORIGIN} is longer than ${CHARACTERS_MAX} characters; keep only the context of the worker cluster`);
  const document = Fields.of(readYamlDocument(kubeconfig, ORIGIN) ?? {}, ORIGIN);
  document.isAtMost('kind', 'Config');
  document.isAtMost('apiVersion', 'v1');
  const context = entryOf(document, {
    list: 'contexts',
    entry: 'context',
    name: document.text('current-context'),
    named: 'current-context',
  });
  onlyFields(context, CONTEXT_FIELDS);
  const named = (field: 'cluster' | 'user'): Fields =>
    entryOf(document, { list: `${field}s`, entry: field, name: context.text(field), named: `${field} of the current context` });
  return { endpoint: endpointOf(named('cluster')), credentials: credentialsOf(named('user')) };
}

/** `extensions` are notes of other programs, `namespace` is a default: neither is read. */
const CONTEXT_FIELDS = ['cluster', 'user', 'namespace', 'extensions'];
const CLUSTER_FIELDS = ['server', 'certificate-authority-data', 'tls-server-name', 'extensions', 'disable-compression'];
const USER_FIELDS = ['token', 'client-certificate-data', 'client-key-data', 'extensions'];

/** Fields that other kubeconfigs may have, with their remedies. Messages name only these fields: any other name may contain anything. */
const REFUSED_FIELDS: Readonly<Record<string, string>> = {
  'certificate-authority': 'write the certificate itself into certificate-authority-data',
  'insecure-skip-tls-verify': 'write the certificate of its authority into certificate-authority-data',
  'proxy-url': 'give a server that the manager reaches without a proxy',
  'client-certificate': 'write the certificate itself into client-certificate-data',
  'client-key': 'write the key itself into client-key-data',
  tokenFile: 'write the token itself into token',
  'token-file': 'write the token itself into token',
  username: 'use a token or a client certificate',
  password: 'use a token or a client certificate',
  exec: 'use a token or a client certificate',
  'auth-provider': 'use a token or a client certificate',
  as: 'use credentials of the user itself',
  'as-uid': 'use credentials of the user itself',
  'as-groups': 'use credentials of the user itself',
  'as-user-extra': 'use credentials of the user itself',
};

/** Throws unless every field with a value is allowed. */
function onlyFields(fields: Fields, allowed: readonly string[]): void {
  const refused = fields.names().find((name) => !allowed.includes(name) && !isEmptyValue(fields.value(name)));
  if (refused === undefined) return;
  const remedy = Object.hasOwn(REFUSED_FIELDS, refused) ? REFUSED_FIELDS[refused] : undefined;
  throw remedy === undefined
    ? fields.flaw(`has a field that is not allowed here; only these are: ${allowed.join(', ')}`)
    : fields.problem(refused, `is not allowed in a Secret; ${remedy}`);
}

const isEmptyValue = (value: unknown): boolean => value === undefined || value === '' || value === false;

type EntryName = { readonly list: string; readonly entry: string; readonly name: string | undefined; readonly named: string };

/** The entry of this name. Entries of other names are not read. */
function entryOf(document: Fields, { list, entry, name, named }: EntryName): Fields {
  if (name === undefined) throw new KubeconfigError(`${ORIGIN}: ${named} is not set; name an entry of ${list}`);
  const found = document.records(list).filter((each) => each.value('name') === name);
  if (found.length > 1) throw new KubeconfigError(`${ORIGIN}: ${named} is the name of several entries of ${list}; keep one of them`);
  const fields = found[0]?.record(entry);
  if (fields === undefined) throw new KubeconfigError(`${ORIGIN}: ${named} names no entry of ${list}; add it, or name another`);
  return fields;
}

function endpointOf(cluster: Fields): WorkerEndpoint {
  onlyFields(cluster, CLUSTER_FIELDS);
  return {
    server: serverOf(cluster),
    ...omitUndefined({
      caPem: pemOf(cluster, 'certificate-authority-data', /-----BEGIN CERTIFICATE-----/),
      tlsServerName: serverNameOf(cluster),
    }),
  };
}

function serverOf(cluster: Fields): string {
  const text = cluster.text('server') ?? '';
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'https:') throw cluster.problem('server', 'is no https URL; write one, such as https://192.0.2.1:6443');
  if (url.username !== '' || url.password !== '')
    throw cluster.problem('server', 'holds a user name or password; use a token or a client certificate');
  if (url.search !== '' || url.hash !== '') throw cluster.problem('server', 'holds a query or fragment; remove what follows "?" or "#"');
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

function serverNameOf(cluster: Fields): string | undefined {
  const name = cluster.text('tls-server-name');
  if (name === undefined || /^[A-Za-z0-9]([A-Za-z0-9.:-]{0,251}[A-Za-z0-9])?$/.test(name)) return name;
  throw cluster.problem('tls-server-name', 'is neither a DNS name nor an address; write the name that the certificate is for');
}

function credentialsOf(user: Fields): WorkerCredentials {
  onlyFields(user, USER_FIELDS);
  const token = tokenOf(user);
  const certificatePem = pemOf(user, 'client-certificate-data', /-----BEGIN CERTIFICATE-----/);
  const keyPem = pemOf(user, 'client-key-data', /-----BEGIN (RSA |EC )?PRIVATE KEY-----/);
  if (certificatePem !== undefined && keyPem === undefined)
    throw user.problem('client-key-data', 'is missing beside client-certificate-data');
  if (keyPem !== undefined && certificatePem === undefined)
    throw user.problem('client-certificate-data', 'is missing beside client-key-data');
  const certificate = certificatePem === undefined || keyPem === undefined ? undefined : { certificatePem, keyPem };
  if (token === undefined && certificate === undefined)
    throw user.flaw('has no credentials; set token, or client-certificate-data and client-key-data');
  return omitUndefined({ token, certificate });
}

function tokenOf(user: Fields): string | undefined {
  const token = user.text('token');
  if (token === undefined || /^[\x21-\x7e]+$/.test(token)) return token;
  throw user.problem('token', 'holds spaces, line breaks or other characters that no token has; write the token alone, on one line');
}

/** The TLS library ignores a text that is no PEM, or fails with it much later. */
function pemOf(fields: Fields, name: string, begins: RegExp): string | undefined {
  const pem = fields.base64(name);
  if (pem === undefined || begins.test(pem)) return pem;
  throw fields.problem(name, 'is no PEM file of the right kind, without a passphrase; write what `base64 -w0 FILE` prints of it');
}

/** Like {@link readWorkerAccess}, with the error as a value. */
export function accessOrProblem(kubeconfig: string): WorkerAccess | KubeconfigError {
  try {
    return readWorkerAccess(kubeconfig);
  } catch (error) {
    if (error instanceof KubeconfigError) return error;
    throw error;
  }
}
