import { readFile } from 'node:fs/promises';
import type { Credentials } from '../cluster-access.ts';
import { loadAuthProvider } from './auth-provider.ts';
import { ExecPlugin, type ExecPluginDeps } from './exec-plugin.ts';
import { KubeconfigError } from './kubeconfig-error.ts';
import type { Authentication, Material, Selection } from './select.ts';

/** Credentials as they are now. `expiresAtMs` is set when they say so themselves. */
export type Reading = { readonly credentials: Credentials; readonly expiresAtMs: number | undefined };

/** What one way to authenticate adds to a request. */
type Proof = {
  readonly headers: Readonly<Record<string, string>>;
  readonly clientCertificate?: { readonly certificatePem: string; readonly keyPem: string } | undefined;
  readonly expiresAtMs?: number | undefined;
};
type Prove = (caPem: string | undefined) => Promise<Proof>;

/**
 * Reads the credentials of a context. Each call reads its files again; plugins and providers keep their answer until it expires.
 * Calls must not overlap.
 */
export function createCredentialsReader({ cluster, user }: Selection, deps: ExecPluginDeps): () => Promise<Reading> {
  const { who, clientCertificate, authentication, impersonationHeaders } = user;
  const prove = proverOf(authentication, cluster, who, deps);
  return async () => {
    const caPem = await pemOf(cluster.ca, 'certificate-authority', who);
    const proof = await prove(caPem);
    const certificatePem =
      proof.clientCertificate?.certificatePem ?? (await pemOf(clientCertificate?.certificate, 'client-certificate', who));
    const keyPem = proof.clientCertificate?.keyPem ?? (await pemOf(clientCertificate?.key, 'client-key', who));
    return {
      credentials: {
        headers: { ...proof.headers, ...impersonationHeaders },
        tls: {
          ...(caPem === undefined ? {} : { ca: caPem }),
          ...(certificatePem === undefined ? {} : { cert: certificatePem }),
          ...(keyPem === undefined ? {} : { key: keyPem }),
          ...(cluster.skipTlsVerify ? { rejectUnauthorized: false } : {}),
          ...(cluster.tlsServerName === undefined ? {} : { servername: cluster.tlsServerName }),
        },
      },
      expiresAtMs: proof.expiresAtMs,
    };
  };
}

function proverOf(authentication: Authentication, cluster: Selection['cluster'], who: string, deps: ExecPluginDeps): Prove {
  switch (authentication.kind) {
    case 'None':
      return async () => ({ headers: {} });
    case 'Token':
      return async () => ({ headers: bearer(authentication.token) });
    case 'TokenFile':
      return async () => ({ headers: bearer(await tokenOf(authentication, who)) });
    case 'Basic': {
      const { username, password } = authentication;
      const authorization = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
      return async () => ({ headers: { authorization } });
    }
    case 'Exec': {
      const plugin = new ExecPlugin(authentication.plugin, who, deps);
      return async (caPem) => {
        const { token, clientCertificate, expiresAtMs } = await plugin.credential({ ...cluster, caPem });
        return { headers: token === undefined ? {} : bearer(token), clientCertificate, expiresAtMs };
      };
    }
    case 'AuthProvider': {
      let provider: ReturnType<typeof loadAuthProvider> | undefined;
      return async () => {
        provider ??= loadAuthProvider(authentication.provider, who);
        return { headers: await (await provider)() };
      };
    }
  }
}

const bearer = (token: string): Record<string, string> => ({ authorization: `Bearer ${token}` });

async function tokenOf({ path, fallback }: Authentication & { kind: 'TokenFile' }, who: string): Promise<string> {
  try {
    const token = (await readFile(path, 'utf8')).trim();
    if (token !== '') return token;
    if (fallback === undefined) throw new KubeconfigError(`${who}: the tokenFile ${path} is empty; put a token into it`);
  } catch (error) {
    if (error instanceof KubeconfigError) throw error;
    if (fallback === undefined) throw unreadable(who, 'tokenFile', path, error);
  }
  return fallback;
}

async function pemOf(material: Material | undefined, field: string, who: string): Promise<string | undefined> {
  if (material?.kind !== 'File') return material?.pem;
  try {
    return await readFile(material.path, 'utf8');
  } catch (error) {
    throw unreadable(who, field, material.path, error);
  }
}

function unreadable(who: string, field: string, path: string, cause: unknown): KubeconfigError {
  return new KubeconfigError(`${who}: the ${field} ${path} cannot be read; put it there, or name another file`, { cause });
}
