/** What may be wrong with a Redis: the reason is for programs, and never changes its meaning. */
export const RedisTroubleReason = {
  /** It does not answer, or nobody listens. */
  Unreachable: 'Unreachable',
  /** It asks for a password, or takes ours for wrong. */
  Unauthenticated: 'Unauthenticated',
  /** Our user may not write the manager's keys. */
  NotAllowed: 'NotAllowed',
  /** It is a replica, or takes no writes. */
  ReadOnly: 'ReadOnly',
  /** Its memory is full: it takes no submissions. */
  Full: 'Full',
  /** It has started, and reads its data. */
  Loading: 'Loading',
  /** It forgets keys when memory runs short. */
  Evicting: 'Evicting',
  /** It keeps nothing on disk, or cannot. */
  NotDurable: 'NotDurable',
  /** Older than BullMQ needs. */
  TooOld: 'TooOld',
} as const;
export type RedisTroubleReason = (typeof RedisTroubleReason)[keyof typeof RedisTroubleReason];

export type RedisTrouble = {
  readonly reason: RedisTroubleReason;
  /** With the remedy. */
  readonly message: string;
  /** Submissions are taken all the same. */
  readonly works: boolean;
};

/** Which of it keep what was taken from being there later. */
export const LOSES: readonly RedisTroubleReason[] = [RedisTroubleReason.NotDurable, RedisTroubleReason.Evicting];

/** What came of one write, and what each master says of itself (`INFO`), as far as it was told. */
export type RedisSeen = { readonly problem?: string; readonly infos: readonly string[] };

/** What is wrong, the gravest first. */
export function judgeRedis({ problem, infos }: RedisSeen): readonly RedisTrouble[] {
  const broken = problem === undefined ? [] : [brokenBy(problem)];
  const told = infos.map(redisFields).flatMap(troublesOf);
  const all = [...broken, ...told];
  return all.filter(({ reason }, index) => all.findIndex((other) => other.reason === reason) === index);
}

const trouble = (reason: RedisTroubleReason, message: string, works = false): RedisTrouble => ({ reason, message, works });

/** By the codes with which Redis and Valkey begin their errors. */
function brokenBy(problem: string): RedisTrouble {
  switch (/^(?:[A-Za-z]*Error: )?([A-Z]+)\b/.exec(problem)?.[1]) {
    case 'NOAUTH':
    case 'WRONGPASS':
      return trouble(
        RedisTroubleReason.Unauthenticated,
        `Redis does not know us (${firstLine(problem)}); give the user and password in --redis-url or its file, or with --redis-username and --redis-password-file`,
      );
    case 'NOPERM':
      return trouble(
        RedisTroubleReason.NotAllowed,
        `Redis does not let us (${firstLine(problem)}); give our user the rights of docs/redis-acl.md`,
      );
    case 'READONLY':
      return trouble(
        RedisTroubleReason.ReadOnly,
        'Redis is a replica and takes no writes; lead the manager to the master, or name its sentinels',
      );
    case 'OOM':
      return trouble(RedisTroubleReason.Full, 'the memory of Redis is full; raise maxmemory, or remove what is not ours');
    case 'MISCONF':
      return trouble(RedisTroubleReason.NotDurable, 'Redis cannot write to its disk and takes no writes; make room there, or repair it');
    case 'LOADING':
      return trouble(RedisTroubleReason.Loading, 'Redis has started and reads its data; this ends by itself');
    default:
      return trouble(
        RedisTroubleReason.Unreachable,
        `Redis does not answer (${firstLine(problem)}); look whether it runs, and whether --redis-url and its TLS settings are right`,
      );
  }
}

type Fields = ReadonlyMap<string, string>;

/** What a server tells of itself (`INFO`), by name. */
export const redisFields = (info: string): Fields =>
  new Map(
    info.split(/\r?\n/).flatMap((line) => {
      const colon = line.indexOf(':');
      return colon > 0 && !line.startsWith('#') ? [[line.slice(0, colon), line.slice(colon + 1)] as const] : [];
    }),
  );

/** What a server tells of its memory (`INFO`), in bytes; undefined: it does not say, or has no limit. */
export function memoryOf(info: string): { readonly used: number | undefined; readonly max: number | undefined } {
  const fields = redisFields(info);
  const bytes = (name: string): number | undefined => {
    const count = Number(fields.get(name));
    return Number.isFinite(count) && count > 0 ? count : undefined;
  };
  return { used: bytes('used_memory'), max: bytes('maxmemory') };
}

/** The oldest Redis for which BullMQ's scripts are made. Every Valkey is newer. */
const VERSION_MIN = [6, 2] as const;

function troublesOf(fields: Fields): readonly RedisTrouble[] {
  const policy = fields.get('maxmemory_policy');
  const isBounded = (fields.get('maxmemory') ?? '0') !== '0';
  return [
    ...(isOld(fields)
      ? [trouble(RedisTroubleReason.TooOld, `Redis ${fields.get('redis_version')} is older than 6.2, which BullMQ needs; upgrade it`)]
      : []),
    ...(policy === undefined || policy === 'noeviction'
      ? []
      : [
          trouble(
            RedisTroubleReason.Evicting,
            `Redis ${isBounded ? 'forgets' : 'would forget'} submissions when its memory runs short (maxmemory-policy ${policy}); set it to noeviction`,
            true,
          ),
        ]),
    ...(fields.get('aof_enabled') === '0'
      ? [trouble(RedisTroubleReason.NotDurable, 'Redis would lose submissions in a crash (appendonly no); set appendonly yes', true)]
      : []),
    ...(fields.get('aof_last_write_status') === 'err'
      ? [trouble(RedisTroubleReason.NotDurable, 'Redis could not write its append-only file; make room on its disk, or repair it', true)]
      : []),
  ];
}

function isOld(fields: Fields): boolean {
  if (fields.has('valkey_version')) return false;
  const [major = 0, minor = 0] = (fields.get('redis_version') ?? '').split('.').map(Number);
  if (Number.isNaN(major) || !fields.has('redis_version')) return false;
  return major < VERSION_MIN[0] || (major === VERSION_MIN[0] && minor < VERSION_MIN[1]);
}

/** Errors of a library may go on for lines, and name what nobody has to see. */
const firstLine = (text: string): string => text.split('\n', 1)[0]?.slice(0, 200) ?? '';
