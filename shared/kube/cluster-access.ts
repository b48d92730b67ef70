import type { ConnectionOptions } from 'node:tls';

/** Where an API server is, and who we are to it. */
export interface ClusterAccess {
  /** URL without a trailing slash; may have a path. */
  readonly server: string;
  /** The namespace that the kubeconfig's context names, else `default`. */
  readonly namespace: string;
  readonly proxyUrl?: string;
  /** Cheap to call for every request: reads and plugins are cached for a while. */
  credentials(): Promise<Credentials>;
  /** The server did not accept the credentials: read them anew next time. */
  invalidate(): void;
}

export type Credentials = {
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly tls: TlsMaterial;
};

export type TlsMaterial = Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'passphrase' | 'rejectUnauthorized' | 'servername'>;
