/** Contents of keys in Redis, without some members. */
import type { ChainableCommander, Redis } from 'ioredis';

/** Each key that is there, with its type and what is in it as text; members and fields that are not `wanted` are left out. */
export async function readKeys(
  redis: Redis,
  keys: readonly string[],
  wanted: (member: string) => boolean,
): Promise<readonly (readonly [key: string, content: string])[]> {
  const types = await answers(keys.reduce((pipeline, key) => pipeline.type(key), redis.pipeline()));
  const contents = await answers(keys.reduce((pipeline, key, index) => read(pipeline, key, String(types[index])), redis.pipeline()));
  return keys.flatMap((key, index) => {
    const [type, content] = [String(types[index]), contents[index]];
    return type === 'none'
      ? []
      : [[key, `${type} ${JSON.stringify(membersOf(type, content).filter(([member]) => wanted(member)))}`] as const];
  });
}

async function answers(pipeline: ChainableCommander): Promise<readonly unknown[]> {
  return ((await pipeline.exec()) ?? []).map(([, answer]) => answer);
}

function read(pipeline: ChainableCommander, key: string, type: string): ChainableCommander {
  switch (type) {
    case 'hash':
      return pipeline.hgetall(key);
    case 'list':
      return pipeline.lrange(key, 0, -1);
    case 'set':
      return pipeline.smembers(key);
    case 'zset':
      return pipeline.zrange(key, '0', '-1', 'WITHSCORES');
    case 'stream':
      return pipeline.xrange(key, '-', '+');
    default:
      return pipeline.get(key);
  }
}

/** Each with what belongs to it: the value of a field, the score of a member. */
function membersOf(type: string, content: unknown): readonly (readonly [member: string, ...more: unknown[]])[] {
  if (type === 'hash') return Object.entries(content as Readonly<Record<string, string>>).toSorted(([a], [b]) => (a < b ? -1 : 1));
  if (!Array.isArray(content)) return [['', content]];
  const members: readonly unknown[] = content;
  if (type === 'zset') return members.flatMap((member, index) => (index % 2 === 0 ? [[String(member), members[index + 1]] as const] : []));
  const each = members.map((member) => [typeof member === 'string' ? member : JSON.stringify(member)] as const);
  return type === 'set' ? each.toSorted(([a], [b]) => (a < b ? -1 : 1)) : each;
}
