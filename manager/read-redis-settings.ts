import { readFileSync } from 'node:fs';
import { FlagError } from '../shared/runtime/flags.ts';
import { given } from '../shared/runtime/given.ts';
import type { RedisConfig } from './redis-flags.ts';
import type { RedisServers, RedisSettings } from './submission/redis-settings.ts';

/** With what stands in the files. Throws a {@link FlagError} for one that cannot be read. */
export function readRedisSettings({ servers, username, passwordFile, sentinelPasswordFile, tls }: RedisConfig): RedisSettings {
  const settings: RedisServers =
    servers.kind === 'Sentinel'
      ? { ...servers, ...given({ password: content('redis-sentinel-password-file', sentinelPasswordFile) }) }
      : servers;
  return {
    servers: settings,
    ...given({
      username,
      password: content('redis-password-file', passwordFile),
      tls:
        tls &&
        given({
          ca: content('redis-tls-ca-file', tls.caFile),
          cert: content('redis-tls-cert-file', tls.certFile),
          key: content('redis-tls-key-file', tls.keyFile),
          serverName: tls.serverName,
        }),
    }),
  };
}

/** Without the line end that editors leave. */
function content(flag: string, file: string | undefined): string | undefined {
  if (file === undefined) return undefined;
  try {
    return readFileSync(file, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    throw new FlagError(`--${flag}: ${JSON.stringify(file)} cannot be read`, { cause: error });
  }
}
