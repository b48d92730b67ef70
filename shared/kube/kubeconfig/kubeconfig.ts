/**
 * A kubeconfig as plain data: every entry by its name, paths absolute, certificates decoded. Nothing is checked but the types of fields.
 */
export type Kubeconfig = {
  readonly currentContext: string | undefined;
  readonly contexts: ReadonlyMap<string, ContextEntry>;
  readonly clusters: ReadonlyMap<string, ClusterEntry>;
  readonly users: ReadonlyMap<string, UserEntry>;
};

export type ContextEntry = {
  /** The file that it stands in, for messages. */
  readonly origin: string;
  readonly cluster: string | undefined;
  readonly user: string | undefined;
  readonly namespace: string | undefined;
};

export type ClusterEntry = {
  readonly origin: string;
  readonly server: string | undefined;
  readonly caFile: string | undefined;
  readonly caPem: string | undefined;
  readonly skipTlsVerify: boolean;
  readonly tlsServerName: string | undefined;
  readonly proxyUrl: string | undefined;
  /** What an exec plugin is told of the cluster, from its extension `client.authentication.k8s.io/exec`. */
  readonly execConfig: unknown;
};

export type UserEntry = {
  readonly origin: string;
  readonly token: string | undefined;
  readonly tokenFile: string | undefined;
  readonly username: string | undefined;
  readonly password: string | undefined;
  readonly certificateFile: string | undefined;
  readonly certificatePem: string | undefined;
  readonly keyFile: string | undefined;
  readonly keyPem: string | undefined;
  readonly impersonate: Impersonation | undefined;
  readonly exec: ExecConfig | undefined;
  readonly authProvider: AuthProviderConfig | undefined;
};

/** Whom to act as: `as`, `as-uid`, `as-groups`, `as-user-extra`. */
export type Impersonation = {
  readonly user: string | undefined;
  readonly uid: string | undefined;
  readonly groups: readonly string[];
  readonly extra: ReadonlyMap<string, readonly string[]>;
};

/** A program that prints credentials (`exec`), as written. */
export type ExecConfig = {
  readonly apiVersion: string | undefined;
  readonly command: string | undefined;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly installHint: string | undefined;
  readonly provideClusterInfo: boolean;
  readonly interactiveMode: string | undefined;
};

/** The older way to get credentials, by a provider that is built into the client. */
export type AuthProviderConfig = { readonly name: string; readonly config: Readonly<Record<string, unknown>> };
