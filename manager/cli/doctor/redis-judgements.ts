import { judgeRedis, memoryOf, redisFields, RedisTroubleReason, type RedisTrouble } from '../../submission/redis-health.ts';
import { note, ok, wrong, type Check } from '../checks.ts';
import { thresholdOf, type SeenAlert } from './alerts.ts';

/** What was seen of the Redis that carries submissions: what came of a write, and what each master says of itself (`INFO`). */
export type RedisFound = {
  /** Without a password. */
  readonly address: string;
  readonly problem?: string;
  readonly masters: readonly { readonly server: string; readonly info: string }[];
  /** Who we are there (`ACL WHOAMI`); undefined: it does not say. */
  readonly user?: string;
  /** Whether we have shown a password. */
  readonly hasPassword: boolean;
  readonly tookMs: number;
};

type Topic = 'redis' | 'redis eviction' | 'redis durability' | 'redis memory' | 'redis rights';

const TOPICS: Readonly<Record<RedisTroubleReason, { readonly topic: Topic; readonly alert?: SeenAlert }>> = {
  [RedisTroubleReason.Unreachable]: { topic: 'redis', alert: 'SwitchyardRedisUnreachable' },
  [RedisTroubleReason.Unauthenticated]: { topic: 'redis rights', alert: 'SwitchyardRedisUnreachable' },
  [RedisTroubleReason.NotAllowed]: { topic: 'redis rights', alert: 'SwitchyardRedisUnreachable' },
  [RedisTroubleReason.ReadOnly]: { topic: 'redis', alert: 'SwitchyardRedisUnreachable' },
  [RedisTroubleReason.Full]: { topic: 'redis memory', alert: 'SwitchyardRedisUnreachable' },
  [RedisTroubleReason.Loading]: { topic: 'redis', alert: 'SwitchyardRedisUnreachable' },
  [RedisTroubleReason.Evicting]: { topic: 'redis eviction', alert: 'SwitchyardRedisNotDurable' },
  [RedisTroubleReason.NotDurable]: { topic: 'redis durability', alert: 'SwitchyardRedisNotDurable' },
  [RedisTroubleReason.TooOld]: { topic: 'redis' },
};

/** As the manager judges it, and of what is well how it is. */
export function judgeRedisFound(found: RedisFound): Check[] {
  const { address, problem, masters, tookMs } = found;
  const troubles = judgeRedis({ ...(problem === undefined ? {} : { problem }), infos: masters.map(({ info }) => info) });
  const bad = troubles.map(checkOf);
  const well = (topic: Topic, check: () => Check): Check[] => (bad.some((each) => each.check === topic) ? [] : [check()]);
  // Where nothing was told, nothing else can be said.
  if (masters.length === 0) return bad.length > 0 ? bad : [ok('redis', `${address} answers in ${tookMs} ms`), rightsOf(found), UNTOLD];
  return [
    ...well('redis', () => ok('redis', `${address} answers in ${tookMs} ms: ${masters.map(({ info }) => whatItIs(info)).join('; ')}`)),
    ...well('redis rights', () => rightsOf(found)),
    ...well('redis eviction', () => ok('redis eviction', `maxmemory-policy ${fieldOf(masters, 'maxmemory_policy') ?? 'unknown'}`)),
    ...well('redis durability', () => ok('redis durability', 'keeps what it took in an append-only file')),
    ...well('redis memory', () => memoryCheck(masters)),
    ...bad,
  ];
}

const UNTOLD = note(
  'redis durability',
  'cannot be looked at, nor eviction and memory: our user may not ask for INFO',
  'give it +info, as docs/redis-acl.md has it',
);

/** The remedy stands behind the last semicolon. */
function checkOf({ reason, message }: RedisTrouble): Check {
  const { topic, alert } = TOPICS[reason];
  const cut = message.lastIndexOf('; ');
  return wrong(topic, cut < 0 ? message : message.slice(0, cut), cut < 0 ? 'look at its log' : message.slice(cut + 2), alert);
}

function rightsOf({ user, hasPassword }: RedisFound): Check {
  const who = user === undefined ? 'our user' : `user ${user}`;
  if (user === 'default' && !hasPassword)
    return note(
      'redis rights',
      'it asks for no password: whoever reaches it may submit, read and delete',
      'give each user rights of its own, as docs/redis-acl.md has them',
    );
  return ok('redis rights', `${who} may write the keys of the manager`);
}

function whatItIs(info: string): string {
  const fields = redisFields(info);
  const valkey = fields.get('valkey_version');
  const replicas = Number(fields.get('connected_slaves') ?? 0);
  const name = valkey === undefined ? `Redis ${fields.get('redis_version') ?? 'of an unknown version'}` : `Valkey ${valkey}`;
  const role = fields.get('role') === 'slave' ? 'replica' : (fields.get('role') ?? 'unknown role');
  return `${name}, ${role}${replicas === 0 ? '' : ` with ${replicas === 1 ? '1 replica' : `${replicas} replicas`}`}`;
}

const fieldOf = (masters: RedisFound['masters'], name: string): string | undefined =>
  masters.map(({ info }) => redisFields(info).get(name)).find((value) => value !== undefined);

/** Of the fullest. */
function memoryCheck(masters: RedisFound['masters']): Check {
  const shares = masters
    .map(({ info }) => memoryOf(info))
    .map(({ used = 0, max }) => ({ used, max, share: max === undefined ? 0 : used / max }));
  const fullest = shares.toSorted((a, b) => b.share - a.share || b.used - a.used)[0] ?? { used: 0, max: undefined, share: 0 };
  const said = `${mebibytes(fullest.used)} used${fullest.max === undefined ? ', no limit' : ` of ${mebibytes(fullest.max)}`}`;
  const limit = thresholdOf('SwitchyardRedisMemory', 'ratio', 0.9);
  if (fullest.share <= limit) return ok('redis memory', said);
  return wrong(
    'redis memory',
    said,
    'raise maxmemory, or remove what is not ours: a full Redis takes no submissions',
    'SwitchyardRedisMemory',
  );
}

const mebibytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(bytes < 10 * 2 ** 20 ? 1 : 0)} MiB`;
