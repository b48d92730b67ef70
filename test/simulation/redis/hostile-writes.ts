/** What somebody with the ACL of one tenant may write under its prefix, as the dice fall: commands, with their arguments. */
import { CANCEL, controlQueueName } from '../../../shared/api/control-queue.ts';
import type { Dice } from '../dice.ts';
import { TENANT_PREFIX, type RedisYard, type Target } from './redis-yard.ts';

export type Command = readonly [name: string, ...args: (string | number)[]];
type Targets = ReturnType<RedisYard['targets']>;

const LISTS = ['wait', 'active', 'paused'] as const;
const SETS = ['delayed', 'prioritized', 'completed', 'failed', 'waiting-children', 'marker', 'repeat'] as const;
const NAMES = [...LISTS, ...SETS, 'stalled', 'meta', 'events', 'id', 'pc', 'limiter', 'stalled-check'] as const;
/** Id of the submission that the tenant makes as a tenant should. */
export const OWN = 'own';
const IDS = ['1', '2', 'a', 'a:b:c', 'repeat:nightly:1', '0:delay', 'parked', OWN, 'kept', ''] as const;
/** The last id that a stream can have: nothing can be added after it. */
const LAST_ID = '18446744073709551615-18446744073709551615';
const OPTIONS = ['fpof', 'cpof', 'idof', 'rdof'] as const;
const HUGE = 'x'.repeat(600_000);

export function hostileWrites(queue: string, { jobs, keys }: Targets, count: number, dice: Dice): readonly Command[] {
  const nowMs = 1_800_000_000_000;
  const root = (): string =>
    `${TENANT_PREFIX}:${dice.chance(0.85) ? queue : dice.pick([controlQueueName(queue), `${queue}-gates`, 'another'])}`;
  const target = (): Target => dice.some(jobs) ?? { namespace: 'other', name: 'bystander', uid: 'u', annotations: {} };
  const foreign = (): string =>
    dice.pick([
      dice.some(keys) ?? 'x',
      `${TENANT_PREFIX}-two:batch:1`,
      TENANT_PREFIX,
      `${TENANT_PREFIX}:${queue}:1`,
      `switchyard:{${target().uid}}:outcome:u`,
      ':',
      '',
    ]);
  const parentOf = (key: string): string => {
    const colon = key.lastIndexOf(':');
    return JSON.stringify({
      id: key.slice(colon + 1),
      queueKey: key.slice(0, Math.max(0, colon)),
      ...(dice.chance(0.8) ? { [dice.pick(OPTIONS)]: true } : {}),
    });
  };
  const ref = (): object => ({ key: dice.pick(IDS), id: dice.pick(IDS), submittedAt: dice.pick([1, nowMs]) });
  const parked = (): string => {
    const { namespace, name, uid } = target();
    return JSON.stringify({
      ref: ref(),
      job: { namespace, name },
      uid: dice.pick<unknown>([uid, null, 7, [uid], '', undefined]),
      attempt: 1,
    });
  };
  const outcome = (): string => JSON.stringify({ kind: 'Failed', failure: { reason: 'Cancelled', message: 'x' } });
  const manifest = (): object => {
    const { namespace, name, uid, annotations } = target();
    const forged = {
      'switchyard.dev/submission': 'parked',
      'switchyard.dev/submitted-at': '1',
      'switchyard.dev/submission-tenant': uid,
      'switchyard.dev/submission-seal': 'c2VhbA',
      'switchyard.dev/submitted-by': 'ann',
      // As they are on the Job of another, its seal among them.
      ...(dice.chance(0.5) ? annotations : {}),
    };
    return {
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: {
        name: dice.pick([name, 'sum', '../x']),
        ...(dice.chance(0.3) ? { namespace } : {}),
        ...(dice.chance(0.2) ? { annotations: forged } : {}),
        ...(dice.chance(0.1) ? { ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name, uid }] } : {}),
        labels: { 'switchyard.dev/queue-name': 'none' },
      },
      spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } } },
    };
  };
  const data = (): string =>
    dice.pick([
      () => JSON.stringify({ manifest: manifest() }),
      () =>
        JSON.stringify({
          manifest: { ...manifest(), metadata: { generateName: 'sum-', labels: { 'switchyard.dev/queue-name': 'none' } } },
        }),
      () => JSON.stringify({ manifest: manifest(), options: { retry: true, logs: true } }),
      () => JSON.stringify({ manifest: manifest(), signature: { user: 'ann', seal: 'c2VhbA', key: 'k', value: 'v' } }),
      () => JSON.stringify(manifest()),
      () => JSON.stringify({ key: dice.some(['parked', OWN, '1', target().name]) }),
      parked,
      () => dice.pick(['null', '[]', '{', '"x"', '7', '[[[['.repeat(500), `{"manifest":"${dice.chance(0.02) ? HUGE : 'x'}"}`]),
    ])();
  const options = (): string =>
    dice.pick([
      '{"attempts":1}',
      '{}',
      '{',
      'null',
      '{"attempts":3,"backoff":{"type":"exponential","delay":1}}',
      JSON.stringify({ de: { id: 'd', keepLastIfActive: true } }),
      JSON.stringify({ repeat: { every: 1000 }, prevMillis: 1 }),
      JSON.stringify({ repeat: { pattern: '* * * * * *' } }),
      JSON.stringify({ parent: { id: 'flow', queue: foreign() }, fpof: true }),
      JSON.stringify({ removeOnComplete: { age: -1, count: -1 }, kl: 1, priority: dice.pick([1, -1, 1e300]) }),
    ]);
  const submission = (id: string, more: Readonly<Record<string, string>> = {}): readonly Command[] => {
    const base = root();
    const parent = foreign();
    const extras: Readonly<Record<string, string>> = {
      ...(dice.chance(0.3) ? { parentKey: parent } : {}),
      ...(dice.chance(0.3) ? { parent: dice.chance(0.9) ? parentOf(parent) : '{' } : {}),
      ...(dice.chance(0.3) ? { deid: 'd' } : {}),
      ...(dice.chance(0.15) ? { rjk: dice.pick(['nightly', 'n:i:1:tz:* * * * *', foreign()]) } : {}),
      ...(dice.chance(0.1) ? { defa: 'child failed' } : {}),
      ...(dice.chance(0.2) ? { atm: dice.pick(['1', '99', 'x']), ats: '3', stc: '7' } : {}),
      ...(dice.chance(0.1) ? { returnvalue: '{', failedReason: 'x', progress: '{', stacktrace: '7', finishedOn: '1' } : {}),
    };
    const fields = {
      name: dice.pick([CANCEL, 'sum', HUGE.slice(0, 300)]),
      data: data(),
      opts: options(),
      timestamp: dice.pick(['1', String(nowMs), 'x']),
      delay: '0',
      priority: dice.pick(['0', '1', 'x']),
      ...extras,
      ...more,
    };
    const placed: Command = dice.pick<Command>([
      ['lpush', `${base}:wait`, id],
      ['lpush', `${base}:wait`, id],
      ['lpush', `${base}:active`, id],
      ['zadd', `${base}:delayed`, dice.pick([0, 1, nowMs * 4096]), id],
      ['zadd', `${base}:prioritized`, 1, id],
      ['zadd', `${base}:${dice.pick(['completed', 'failed'])}`, 1, id],
      ['zadd', `${base}:waiting-children`, 1, id],
    ]);
    return [['hset', `${base}:${id}`, ...Object.entries(fields).flat()], placed, ['zadd', `${base}:marker`, 0, '0']];
  };
  /** A deduplicated successor of another submission, among the dependencies of whatever. */
  const successor = (): readonly Command[] => {
    const parent = foreign();
    const pdk = dice.chance(0.5) ? `${parent}:dependencies` : foreign();
    const base = `${TENANT_PREFIX}:${queue}`;
    return [
      [
        'hset',
        `${base}:dn:d`,
        'name',
        'next',
        'data',
        data(),
        'opts',
        '{"attempts":1}',
        'pk',
        parent,
        'pd',
        parentOf(parent),
        'pdk',
        pdk,
        'jid',
        dice.pick(IDS),
      ],
      ['set', `${base}:de:d`, '1'],
      ...submission('1', { deid: 'd' }),
    ];
  };
  const other = (): readonly Command[] => {
    const base = root();
    const id = dice.pick(IDS);
    return dice.pick<() => readonly Command[]>([
      () => [
        [
          'hset',
          `${base}:meta`,
          dice.pick(['paused', 'concurrency', 'max', 'duration', 'opts.maxLenEvents']),
          dice.pick(['1', '0', '-1', 'x']),
        ],
      ],
      () => [
        [
          'xadd',
          `${base}:events`,
          '*',
          'event',
          dice.pick(['removed', 'completed', 'failed']),
          'jobId',
          id,
          'prev',
          'delayed',
          'data',
          '{',
        ],
      ],
      () => [['sadd', `${base}:stalled`, id]],
      () => [['set', `${base}:${id}:lock`, 'mine']],
      () => [['sadd', `${base}:${id}:dependencies`, foreign()]],
      () => [
        ['hset', `${base}:repeat:nightly`, 'ic', '1', 'every', '1', 'name', 'sum', 'data', data(), 'opts', options()],
        ['zadd', `${base}:repeat`, 1, 'nightly'],
      ],
      () => [
        ['hset', `${base}:parked`, id, parked()],
        ['hset', `${TENANT_PREFIX}:switchyard:parked`, id, parked()],
      ],
      () => [['set', `${TENANT_PREFIX}:outcome:${target().uid}`, outcome()]],
      // Those outside of the prefix are refused by the ACL.
      () => [
        ['hset', `switchyard:{${target().uid}}:${base}:parked`, id, parked()],
        ['set', foreign(), outcome()],
      ],
      () => [
        ['del', `${base}:${dice.pick(NAMES)}`],
        dice.pick<Command>([
          ['set', `${base}:${dice.pick(NAMES)}`, 'x'],
          ['sadd', `${base}:${dice.pick(NAMES)}`, 'x'],
          ['hset', `${base}:${dice.pick(NAMES)}`, 'x', 'x'],
          ['lpush', `${base}:${dice.pick(NAMES)}`, foreign()],
        ]),
      ],
      () => [['del', `${base}:${id}`]],
      // The records of a submission go, as if it had been removed, and come again, there or as another's.
      () => [
        ['copy', `${base}:${OWN}`, `${base}:kept`, 'REPLACE'],
        ['del', `${base}:${OWN}`],
        ['xadd', `${base}:events`, '*', 'event', 'removed', 'jobId', OWN, 'prev', 'delayed'],
      ],
      () => [
        ['copy', `${base}:kept`, `${base}:${id}`, 'REPLACE'],
        ['lpush', `${base}:wait`, id],
        ['zadd', `${base}:marker`, 0, '0'],
      ],
      () => [['rename', `${base}:${dice.pick([OWN, '1', 'a'])}`, `${base}:${id}`]],
      // A submission that is parked ends, or begins anew, by what the tenant says.
      () => [
        ['zrem', `${base}:delayed`, OWN],
        dice.pick<Command>([
          ['zadd', `${base}:completed`, 1, OWN],
          ['zadd', `${base}:failed`, dice.pick(['-inf', '+inf', 1]), OWN],
          ['lpush', `${base}:wait`, OWN],
          ['lpush', `${base}:active`, OWN],
        ]),
      ],
      () => [
        ['hset', `${base}:${OWN}`, dice.pick(['timestamp', 'data', 'opts', 'progress', 'returnvalue', 'atm', 'ats', 'parentKey']), data()],
      ],
      () => [['hset', `${base}:${id}`, dice.pick(['name', 'progress', 'returnvalue', 'timestamp']), dice.chance(0.02) ? HUGE : 'x']],
      () => [['zadd', `${base}:delayed`, dice.pick(['-inf', '+inf', 0]), dice.pick([OWN, id])]],
      () => [
        dice.pick<Command>([
          ['xtrim', `${base}:events`, 'MAXLEN', 0],
          ['xadd', `${base}:events`, LAST_ID, 'event', 'waiting', 'jobId', OWN],
        ]),
      ],
      () => [['pexpire', `${base}:${dice.pick(NAMES)}`, dice.int(1, 50)]],
      // Marks of the manager, where the tenant may write.
      () => [
        ['set', `${base}:${dice.pick(['cancelled', 'delivered', 'told', 'once'])}:${id}`, dice.pick(['1', outcome()])],
        ['hset', `${base}:told`, id, '{"phase":"Finished"}'],
      ],
      // A cancellation as a submitter asks for it, of a key of the tenant's own or of another.
      () => {
        const control = `${TENANT_PREFIX}:${controlQueueName(queue)}`;
        const [cancel, key] = [`c${dice.int(1, 9)}`, dice.pick(['parked', OWN, 'a', target().name])];
        return [
          [
            'hset',
            `${control}:${cancel}`,
            'name',
            CANCEL,
            'data',
            JSON.stringify({ key }),
            'opts',
            '{}',
            'timestamp',
            1,
            'delay',
            0,
            'priority',
            0,
          ],
          ['lpush', `${control}:wait`, cancel],
          ['zadd', `${control}:marker`, 0, '0'],
        ];
      },
    ])();
  };
  return Array.from({ length: count }, () =>
    dice.chance(0.5) ? submission(dice.pick(IDS)) : dice.chance(0.2) ? successor() : other(),
  ).flat();
}

/** A submission as a tenant should make it. */
export function ownSubmission(queue: string): readonly Command[] {
  const base = `${TENANT_PREFIX}:${queue}`;
  const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } };
  const metadata = { name: `${OWN}-${queue}`, labels: { 'switchyard.dev/queue-name': 'none' } };
  const data = JSON.stringify({ manifest: { apiVersion: 'batch/v1', kind: 'Job', metadata, spec: { template } } });
  return [
    [
      'hset',
      `${base}:${OWN}`,
      'name',
      OWN,
      'data',
      data,
      'opts',
      '{"attempts":1}',
      'timestamp',
      1_800_000_000_000,
      'delay',
      0,
      'priority',
      0,
    ],
    ['lpush', `${base}:wait`, OWN],
    ['zadd', `${base}:marker`, 0, '0'],
  ];
}
