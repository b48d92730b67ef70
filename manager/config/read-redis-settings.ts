import { closeSync, openSync, readSync } from 'node:fs';
import { FlagError } from '../../shared/runtime/flags.ts';
import { omitUndefined } from '../../shared/runtime/omit-undefined.ts';
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
  const where = `${URL_FILE}: ${JSON.stringify(file)}`;
  const url = textOf(URL_FILE, file, URL_BYTES_MAX).trim();
  if (url === '') throw new FlagError(`${where} is empty; ${URL_REMEDY}`);
  if (/\s/.test(url)) throw new FlagError(`${where} holds more than one word; ${URL_REMEDY}`);
  try {
    return redisUrl(url);
  } catch (error) {
    throw error instanceof FlagError ? new FlagError(`${where} ${error.message}`, { cause: error }) : error;
  }
}

const URL_FILE = '--redis-url-file';
const URL_REMEDY = 'write one URL into it, such as redis://localhost:6379';
const URL_BYTES_MAX = 8 * 1024;
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
  return file === undefined ? undefined : textOf(`--${flag}`, file, FILE_BYTES_MAX).replace(/\r?\n$/, '');
}

function textOf(flag: string, file: string, bytesMax: number): string {
  let text: string | undefined;
  try {
    text = readAtMost(file, bytesMax);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    throw new FlagError(`${flag}: ${JSON.stringify(file)} cannot be read (${code}); name a file that is there and readable`, {
      cause: error,
    });
  }
  if (text !== undefined) return text;
  throw new FlagError(`${flag}: ${JSON.stringify(file)} holds more than ${bytesMax / 1024} KiB; name the file that holds this alone`);
}

/** undefined: there is more. A device or a pipe has no size that could be asked for before. */
function readAtMost(file: string, bytesMax: number): string | undefined {
  const bytes = Buffer.alloc(bytesMax + 1);
  const descriptor = openSync(file, 'r');
  try {
    let length = 0;
    for (let read = 1; read > 0 && length <= bytesMax; length += read)
      read = readSync(descriptor, bytes, length, bytes.length - length, null);
    return length > bytesMax ? undefined : bytes.toString('utf8', 0, length);
  } finally {
    closeSync(descriptor);
  }
}
