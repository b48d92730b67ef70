import type { Cluster, Redis } from 'ioredis';

/**
 * Has every script that is defined on the connection, and on its duplicates, reach nothing but the keys of the queue that it is run for,
 * and those of other queues under the same prefix. BullMQ's scripts follow what submissions say: the key of a parent, the set of a flow's
 * dependencies. They run with the manager's rights, so a tenant that writes such a key would write wherever the manager may.
 */
export function confineScripts<Connection extends Redis | Cluster>(connection: Connection): Connection {
  const define = connection.defineCommand.bind(connection);
  connection.defineCommand = (name, { lua, ...definition }) => define(name, { ...definition, lua: confinedScript(lua) });
  const duplicate = connection.duplicate.bind(connection) as (...options: unknown[]) => Connection;
  connection.duplicate = ((...options: unknown[]) => confineScripts(duplicate(...options))) as Connection['duplicate'];
  return connection;
}

/** The script, with a `redis` of its own. */
export const confinedScript = (lua: string): string => `${CONFINED}\n${lua}`;

/** Commands that BullMQ's scripts use, by how many of their arguments are keys. Any other is an error: who knows where its keys stand. */
export const CONFINED_COMMANDS = {
  none: 'TIME',
  two: 'RENAME RPOPLPUSH',
  all: 'DEL EXISTS UNLINK',
  one:
    'GET HDEL HEXISTS HGET HGETALL HINCRBY HLEN HMGET HMSET HSCAN HSET INCR INCRBY LINDEX LLEN LPOP LPOS LPUSH LRANGE LREM LSET LTRIM PERSIST PEXPIRE ' +
    'PEXPIREAT PTTL RPOP RPUSH SADD SCARD SET SISMEMBER SMEMBERS SREM SSCAN TYPE XADD XDEL XLEN XRANGE XTRIM ZADD ZCARD ZCOUNT ZLEXCOUNT ZPOPMIN ZRANGE ' +
    'ZRANGEBYLEX ZRANGEBYSCORE ZREM ZREMRANGEBYRANK ZREMRANGEBYSCORE ZREVRANGE ZREVRANGEBYSCORE ZSCORE',
} as const;

/**
 * The first key of each script is `PREFIX:QUEUE:` and a name, or the key of a submission, whose id may have colons: the prefix found is
 * then longer, and less is reached. What a script asks of a parent or of dependencies first is answered as if there were none, so that the
 * submission ends as any other.
 */
const CONFINED = `
local redis = (function(server)
  local keysOf = {}
  local function known(names, count)
    for name in string.gmatch(names, '%u+') do keysOf[name] = count end
  end
  known('${CONFINED_COMMANDS.none}', 0)
  known('${CONFINED_COMMANDS.one}', 1)
  known('${CONFINED_COMMANDS.two}', 2)
  known('${CONFINED_COMMANDS.all}', 1000000)
  local absent = { EXISTS = 0, SREM = 0, SADD = 0 }
  local prefix = string.match(KEYS[1] or '', '^(.*:)[^:]*:[^:]*$')
  local declared = {}
  for _, key in ipairs(KEYS) do declared[key] = true end
  local function confined(call)
    return function(command, ...)
      local count = keysOf[command]
      if count == nil then error('NOPERM a script of this queue may not use the command ' .. tostring(command)) end
      for index = 1, math.min(count, select('#', ...)) do
        local key = tostring((select(index, ...)))
        if not declared[key] and (prefix == nil or string.sub(key, 1, #prefix) ~= prefix) then
          if absent[command] then return absent[command] end
          error('NOPERM a script of this queue may not reach the key ' .. key)
        end
      end
      return call(command, ...)
    end
  end
  return { call = confined(server.call), pcall = confined(server.pcall), error_reply = server.error_reply, status_reply = server.status_reply }
end)(redis)`.trim();
