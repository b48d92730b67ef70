/** How the Redis that carries submissions is reached. */
export type RedisSettings = {
  readonly servers: RedisServers;
  /** ACL user; absent: that of the URL, or `default`. */
  readonly username?: string;
  readonly password?: string;
  /** Absent: none, or as `rediss://` has it. */
  readonly tls?: RedisTls;
};

export type RedisServers =
  | { readonly kind: 'Single'; readonly url: string }
  /** The sentinels are asked who the master is, again after each loss. */
  | { readonly kind: 'Sentinel'; readonly sentinels: readonly HostPort[]; readonly name: string; readonly password?: string }
  /** A few nodes of a Redis Cluster; the others are learned from them. */
  | { readonly kind: 'Cluster'; readonly nodes: readonly HostPort[] };
export type HostPort = { readonly host: string; readonly port: number };

/** PEM texts; absent: the system's authorities, no certificate of our own, the host's name. */
export type RedisTls = { readonly ca?: string; readonly cert?: string; readonly key?: string; readonly serverName?: string };

export const singleRedis = (url: string): RedisSettings => ({ servers: { kind: 'Single', url } });
