import { FlagError, oneOf, wholeNumber, type FlagTable, type FlagValues, type Program } from '../../shared/runtime/flags.ts';

import { DEFECT_NAMES, type DefectName } from './dispatch/defects.ts';

/** What `npm run simulate` is asked for. */
export type SimulationConfig = {
  readonly world: World;
  /** A defect that the programs are to have; the first story in which it shows is the last. */
  readonly putBack: DefectName | undefined;
  /** A defect whose stories are played, by programs without it. */
  readonly bias: DefectName | undefined;
} & (
  | { readonly kind: 'Replay'; readonly seed: number; readonly trace: boolean }
  | { readonly kind: 'Soak'; readonly from: number; readonly count: number }
);

/**
 * What is played: one cluster with a worker, a whole installation of several, such a one with a hostile tenant, of any kind or one whose
 * Jobs give quota back, or a manager with a Redis to which a tenant writes anything; or an election alone; or an installation that is held
 * against the model.
 */
export const WORLDS = ['job-controller', 'dispatch', 'tenant', 'shrinking-tenant', 'redis-tenant', 'election', 'protocol'] as const;
export type World = (typeof WORLDS)[number];

/** Seeds have 32 bits: larger ones would repeat stories. */
const SEED_MAX = 2 ** 32 - 1;
const COUNT = 100;

const FLAGS = {
  world: {
    value: 'NAME',
    fallback: 'job-controller',
    about:
      'what is played: job-controller (one cluster), dispatch (a manager and three clusters), tenant (the same with a hostile tenant), shrinking-tenant (one whose Jobs give quota back while they run), redis-tenant (a tenant who writes anything to its prefix in Redis, in real time), election (candidates for one Lease), protocol (dispatch, each Job of which is replayed as a trace of the model; needs Spin)',
    parse: oneOf(WORLDS),
  },
  seeds: { value: 'N', about: `play so many stories and tell what was found; default: ${COUNT}`, parse: wholeNumber(1, SEED_MAX + 1) },
  from: { value: 'SEED', about: 'seed of the first story; the others follow it; default: 1', parse: wholeNumber(0, SEED_MAX) },
  seed: { value: 'SEED', about: 'play this story alone', parse: wholeNumber(0, SEED_MAX) },
  'put-back': {
    value: 'DEFECT',
    about: `give the programs of world dispatch a defect that they once had, and stop at the first seed that finds it: ${DEFECT_NAMES.join(', ')}`,
    parse: oneOf(DEFECT_NAMES),
  },
  bias: {
    value: 'DEFECT',
    about: 'play the stories in which that defect is searched for, without it: every promise has to be kept',
    parse: oneOf(DEFECT_NAMES),
  },
  trace: { about: 'print each step of it' },
} satisfies FlagTable;

export const SIMULATION_PROGRAM: Program<typeof FLAGS, SimulationConfig> = {
  name: 'simulate',
  usage: 'npm run simulate --',
  about: 'Plays a world through seeded storms of faults and crashes, and prints the seed of a story that ends badly.',
  flags: FLAGS,
  configOf,
};

function configOf({ world, seeds, from, seed, trace, bias, 'put-back': putBack }: FlagValues<typeof FLAGS>): SimulationConfig {
  if (putBack !== undefined && world !== 'dispatch' && world !== 'protocol')
    throw new FlagError('--put-back needs --world dispatch or protocol: it breaks their programs');
  if (bias !== undefined && world !== 'dispatch' && world !== 'protocol')
    throw new FlagError('--bias needs --world dispatch or protocol: they have such stories');
  if (bias !== undefined && putBack !== undefined) throw new FlagError('--put-back plays the stories of its defect; leave out --bias');
  if (seed !== undefined) {
    if (seeds !== undefined || from !== undefined) throw new FlagError('--seed plays one story; leave out --seeds and --from, or --seed');
    return { world, putBack, bias, kind: 'Replay', seed, trace };
  }
  if (trace) throw new FlagError('--trace needs --seed: it prints the steps of one story');
  const soak = { world, putBack, bias, kind: 'Soak', from: from ?? 1, count: seeds ?? COUNT } as const;
  const last = soak.from + soak.count - 1;
  if (last > SEED_MAX) throw new FlagError(`--from ${soak.from} --seeds ${soak.count} ends at ${last}; the last seed is ${SEED_MAX}`);
  return soak;
}
