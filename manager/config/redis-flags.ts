import { FlagError, text, type FlagTable, type FlagValues } from '../../shared/runtime/flags.ts';
import { shaped, wholeNumberPattern, type ValueShape } from '../../shared/runtime/value-shape.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import type { HostPort, RedisServers } from '../submission/redis-settings.ts';

const HOST_PORTS: ValueShape = {
  type: 'array',
  minItems: 1,
  items: { type: 'string', pattern: `^(\\[[0-9a-fA-F:]+\\]|[^\\]:\\[, ]+):${wholeNumberPattern(1, 65_535)}$` },
};

/** How the Redis that carries submissions is reached. */
export const REDIS_FLAGS = {
  'redis-url': {
    value: 'URL',
    about: 'Redis or Valkey that carries submissions, such as redis://localhost:6379; without any, Jobs come through the API alone',
    parse: shaped({ type: 'string', pattern: '^rediss?://.+$' }, redisUrl),
  },
  'redis-url-file': {
    value: 'FILE',
    about: 'file whose one line is that URL, instead of --redis-url: a password in it is then in no environment; read at start',
    parse: text,
  },
  'redis-sentinels': {
    value: 'HOST:PORT,...',
    about: 'sentinels that know the master, instead of --redis-url',
    parse: shaped(HOST_PORTS, hostPorts),
  },
  'redis-sentinel-name': { value: 'NAME', about: 'what the sentinels call the master', parse: text },
  'redis-sentinel-password-file': { value: 'FILE', about: 'password of the sentinels', parse: text },
  'redis-cluster-nodes': {
    value: 'HOST:PORT,...',
    about:
      'some nodes of a Redis Cluster, instead of --redis-url; prefixes of queues then need a hash tag, such as {bull}, and defaults have one',
    parse: shaped(HOST_PORTS, hostPorts),
  },
  'redis-username': { value: 'NAME', about: 'ACL user; default: that of the URL', parse: text },
  'redis-password-file': { value: 'FILE', about: 'its password, instead of one in the URL', parse: text },
  'redis-tls': { about: 'speak TLS with sentinels or a cluster; a URL says it by rediss://' },
  'redis-tls-ca-file': {
    value: 'FILE',
    about: 'authorities that sign the certificate of Redis, PEM; default: those of the system',
    parse: text,
  },
  'redis-tls-cert-file': { value: 'FILE', about: 'certificate to show to Redis, PEM', parse: text },
  'redis-tls-key-file': { value: 'FILE', about: 'private key of that certificate, PEM', parse: text },
  'redis-tls-server-name': { value: 'NAME', about: 'name that the certificate of Redis must have; default: its host', parse: text },
} satisfies FlagTable;

/** As the flags have it; secrets and certificates are in files. */
export type RedisConfig = {
  readonly servers:
    | Exclude<RedisServers, { kind: 'Sentinel' }>
    | { readonly kind: 'Single'; readonly urlFile: string }
    | Omit<Extract<RedisServers, { kind: 'Sentinel' }>, 'password'>;
  readonly username?: string;
  readonly passwordFile?: string;
  readonly sentinelPasswordFile?: string;
  readonly tls?: { readonly caFile?: string; readonly certFile?: string; readonly keyFile?: string; readonly serverName?: string };
};

type Values = FlagValues<typeof REDIS_FLAGS>;

/** undefined: there is no Redis. Throws a {@link FlagError} for flags that contradict one another. */
export function redisConfigOf(flags: Values): RedisConfig | undefined {
  const servers = serversOf(flags);
  if (servers === undefined) return undefined;
  return {
    servers,
    ...omitUndefined({
      username: flags['redis-username'],
      passwordFile: flags['redis-password-file'],
      sentinelPasswordFile: flags['redis-sentinel-password-file'],
      tls: tlsOf(flags, servers),
    }),
  };
}

function serversOf(flags: Values): RedisConfig['servers'] | undefined {
  const { 'redis-url': url, 'redis-url-file': urlFile, 'redis-sentinels': sentinels, 'redis-cluster-nodes': nodes } = flags;
  const name = flags['redis-sentinel-name'];
  if ([url, urlFile, sentinels, nodes].filter((each) => each !== undefined).length > 1)
    throw new FlagError(
      '--redis-url, --redis-url-file, --redis-sentinels and --redis-cluster-nodes exclude one another, as variables (SWITCHYARD_REDIS_URL), too: give one of them',
    );
  if (url !== undefined) return { kind: 'Single', url };
  if (urlFile !== undefined) return { kind: 'Single', urlFile };
  if (nodes !== undefined) return { kind: 'Cluster', nodes };
  if (sentinels === undefined) return undefined;
  if (name === undefined) throw new FlagError('--redis-sentinels needs --redis-sentinel-name: what the sentinels call the master');
  return { kind: 'Sentinel', sentinels, name };
}

function tlsOf(flags: Values, servers: RedisConfig['servers']): RedisConfig['tls'] {
  const [certFile, keyFile] = [flags['redis-tls-cert-file'], flags['redis-tls-key-file']];
  if ((certFile === undefined) !== (keyFile === undefined))
    throw new FlagError('--redis-tls-cert-file and --redis-tls-key-file go together');
  const tls = omitUndefined({ caFile: flags['redis-tls-ca-file'], certFile, keyFile, serverName: flags['redis-tls-server-name'] });
  const isAsked = flags['redis-tls'] || Object.keys(tls).length > 0;
  if (isAsked && 'url' in servers) requireTlsUrl('--redis-url', servers.url);
  return isAsked ? tls : undefined;
}

/** For a Redis whose other flags ask for TLS. Throws a {@link FlagError} that begins with `where`. */
export function requireTlsUrl(where: string, url: string): void {
  if (new URL(url).protocol === 'redis:') throw new FlagError(`${where} says redis://, and other flags ask for TLS: write rediss://`);
}

/** It may hold a password, so it is not quoted. Throws a {@link FlagError} for one of another scheme. */
export function redisUrl(given: string): string {
  const protocol = URL.canParse(given) ? new URL(given).protocol : '';
  if (protocol === 'redis:' || protocol === 'rediss:') return given;
  throw new FlagError('is no redis:// or rediss:// URL; write one such as redis://localhost:6379');
}

function hostPorts(given: string): readonly HostPort[] {
  return given.split(',').map((each) => hostPort(each.trim()));
}

function hostPort(given: string): HostPort {
  const match = /^(\[[0-9a-fA-F:]+\]|[^:[\]\s]+):(\d{1,5})$/.exec(given);
  const port = Number(match?.[2]);
  if (match?.[1] === undefined || port < 1 || port > 65_535)
    throw new FlagError(`${JSON.stringify(given)} is no HOST:PORT; write one such as sentinel-0.redis:26379`);
  return { host: match[1].replaceAll(/[[\]]/g, ''), port };
}
