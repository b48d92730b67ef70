import { readRedisSettings } from '../../config/read-redis-settings.ts';
import type { RedisConfig } from '../../config/redis-flags.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { connectRedis, untilReady, type RedisConnection } from '../../submission/redis-connection.ts';
import { observeRedis } from '../../submission/redis-probe.ts';
import type { RedisSettings } from '../../submission/redis-settings.ts';
import type { RedisFound } from './redis-judgements.ts';

/**
 * Writes the key by which the manager, too, sees whether Redis takes anything, and asks what it says of itself. Throws FlagError for a file
 * that cannot be read.
 */
export async function lookAtRedis(config: RedisConfig, now: () => number): Promise<RedisFound> {
  const settings = readRedisSettings(config);
  const connection = connectRedis(settings, 'Impatient');
  let connectionError: string | undefined;
  connection.on('error', (error: Error) => (connectionError = error.message));
  const url = settings.servers.kind === 'Single' ? new URL(settings.servers.url) : undefined;
  const known = { address: addressOf(settings), hasPassword: settings.password !== undefined || (url?.password ?? '') !== '' };
  try {
    await untilReady(connection, systemClock);
    const beforeMs = now();
    const { problem, masters } = await observeRedis(connection);
    const tookMs = now() - beforeMs;
    const why = problem !== undefined && connectionError !== undefined ? connectionError : problem;
    return { ...known, tookMs, masters, ...(why === undefined ? {} : { problem: why }), ...(await userOf(connection)) };
  } finally {
    connection.disconnect();
  }
}

/** Only some may ask. */
async function userOf(connection: RedisConnection): Promise<{ readonly user?: string }> {
  try {
    return { user: String(await connection.call('ACL', 'WHOAMI')) };
  } catch (error) {
    if (error instanceof Error) return {};
    throw error;
  }
}

/** Without user and password. */
function addressOf({ servers }: RedisSettings): string {
  switch (servers.kind) {
    case 'Single':
      return new URL(servers.url).host;
    case 'Sentinel':
      return `${servers.name} by sentinels`;
    case 'Cluster':
      return servers.nodes.map(({ host, port }) => `${host}:${port}`).join(',');
  }
}
