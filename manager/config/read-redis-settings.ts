import { FlagError } from '../../shared/runtime/flags.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
import { readSecretFile, readSecretWord } from './read-secret-file.ts';
import { redisUrl, requireTlsUrl, type RedisConfig } from './redis-flags.ts';
import type { RedisServers, RedisSettings } from '../submission/redis-settings.ts';

/** With what stands in the files. Throws a {@link FlagError} for one that cannot be read or used. */
export function readRedisSettings({ servers, username, passwordFile, sentinelPasswordFile, tls }: RedisConfig): RedisSettings {
  return {
    servers: readServers(servers, sentinelPasswordFile, tls !== undefined),
    ...omitUndefined({
      username,
      password: content('redis-password-file', passwordFile),
      tls:
        tls &&
        omitUndefined({
          ca: content('redis-tls-ca-file', tls.caFile),
          cert: content('redis-tls-cert-file', tls.certFile),
          key: content('redis-tls-key-file', tls.keyFile),
          serverName: tls.serverName,
        }),
    }),
  };
}

/** The URL in the file of `--redis-url-file`, without white space around it. Throws a {@link FlagError}, which quotes nothing of it. */
export function readRedisUrl(file: string): string {
  const url = readSecretWord(URL_FILE, file, 'write one URL into it, such as redis://localhost:6379');
  try {
    return redisUrl(url);
  } catch (error) {
    throw error instanceof FlagError ? new FlagError(`${URL_FILE}: ${JSON.stringify(file)} ${error.message}`, { cause: error }) : error;
  }
}

const URL_FILE = '--redis-url-file';
/** As much as a Secret holds: authorities are several certificates. */
const FILE_BYTES_MAX = 1024 * 1024;

function readServers(servers: RedisConfig['servers'], passwordFile: string | undefined, tls: boolean): RedisServers {
  if (servers.kind === 'Sentinel')
    return { ...servers, ...omitUndefined({ password: content('redis-sentinel-password-file', passwordFile) }) };
  if (!('urlFile' in servers)) return servers;
  const url = readRedisUrl(servers.urlFile);
  if (tls) requireTlsUrl(`${URL_FILE}: ${JSON.stringify(servers.urlFile)}`, url);
  return { kind: 'Single', url };
}

/** Without the line end that editors leave. */
function content(flag: string, file: string | undefined): string | undefined {
  return file === undefined ? undefined : readSecretFile(`--${flag}`, file, FILE_BYTES_MAX).replace(/\r?\n$/, '');
}
