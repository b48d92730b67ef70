/** A real Redis Cluster for a test: so many masters on this machine that share the slots. */
import { Redis } from 'ioredis';
import type { HostPort } from '../../manager/submission/redis-settings.ts';
import { startRedis, type RedisProgram, type TestRedis } from './redis.ts';

export type TestRedisCluster = { readonly nodes: readonly HostPort[]; stop(): Promise<void> };

const SLOTS = 16_384;
const ARGS = ['--cluster-enabled', 'yes', '--cluster-node-timeout', '2000', '--cluster-announce-ip', '127.0.0.1'];

export async function startRedisCluster(count: number, program: RedisProgram = 'redis-server'): Promise<TestRedisCluster> {
  const servers: TestRedis[] = await Promise.all(Array.from({ length: count }, () => startRedis({ program, args: ARGS })));
  const nodes = servers.map(({ url }) => ({ host: '127.0.0.1', port: Number(new URL(url).port) }));
  const admins = nodes.map(({ host, port }) => new Redis(port, host));
  const [first] = admins;
  for (const [index, admin] of admins.entries()) {
    await admin.cluster('ADDSLOTSRANGE', Math.floor((index * SLOTS) / count), Math.floor(((index + 1) * SLOTS) / count) - 1);
    if (index > 0) await first?.call('CLUSTER', 'MEET', '127.0.0.1', String(nodes[index]?.port));
  }
  await Promise.all(admins.map((admin) => untilWhole(admin, count)));
  for (const admin of admins) admin.disconnect();
  return { nodes, stop: async () => void (await Promise.all(servers.map((server) => server.stop()))) };
}

/** A node that has just started counts its cluster as whole two seconds later, whatever it has; nothing tells when. */
async function untilWhole(admin: Redis, count: number): Promise<void> {
  for (;;) {
    const info = await admin.cluster('INFO');
    if (info.includes('cluster_state:ok') && info.includes(`cluster_known_nodes:${count}`)) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
