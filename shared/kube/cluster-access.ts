import type { ConnectionOptions } from 'node:tls';

/** Where an API server is, and who we are to it. */
export interface ClusterAccess {
  /** URL without a trailing slash; may have a path. */
  readonly server: string;
  /**
   * What errors and metrics call the server. Set where the URL itself is to stay in confidence, as it came from a Secret: errors then tell
   * what went wrong in words that say nothing of it, and have no cause.
   */
  readonly alias?: string;
  /** The namespace that the kubeconfig's context names, else `default`. */
  readonly namespace: string;
  /** An http or https proxy. */
  readonly proxyUrl?: string;
  /** Cheap to call for every request: reads and plugins are cached for a while. */
  credentials(): Promise<Credentials>;
  /** The server did not accept these credentials: if they are still those that are given out, read them anew next time. */
  invalidate(refused: Credentials): void;
}

export type Credentials = {
  /** Names in lower case; several values are several headers. */
  readonly headers: Readonly<Record<string, string | string[]>>;
  readonly tls: TlsMaterial;
};

export type TlsMaterial = Pick<ConnectionOptions, 'ca' | 'cert' | 'key' | 'passphrase' | 'rejectUnauthorized' | 'servername'>;
