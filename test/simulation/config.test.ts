import { expect, test } from 'vitest';
import { parseFlags } from '../../shared/runtime/flags.ts';
import { SIMULATION_PROGRAM } from './config.ts';

const read = (...args: string[]): unknown => {
  const parsed = parseFlags(SIMULATION_PROGRAM, args, {});
  return parsed.kind === 'Run' ? parsed.config : parsed.kind === 'Invalid' ? parsed.problem : parsed.kind;
};

test('without --seed many stories are played, with it one', () => {
  expect(read()).toEqual({ world: 'job-controller', putBack: undefined, bias: undefined, kind: 'Soak', from: 1, count: 100 });
  expect(read('--seeds', '5', '--from=7', '--world', 'tenant')).toEqual({
    world: 'tenant',
    putBack: undefined,
    bias: undefined,
    kind: 'Soak',
    from: 7,
    count: 5,
  });
  expect(read('--seed=7', '--trace', '--world=dispatch')).toEqual({
    world: 'dispatch',
    putBack: undefined,
    bias: undefined,
    kind: 'Replay',
    seed: 7,
    trace: true,
  });
});

test.each([
  [['--seeds', '0'], '--seeds: "0" cannot be used; write a whole number from 1 to 4294967296'],
  [
    ['--world', 'moon'],
    '--world: "moon" is unknown; choose from job-controller, dispatch, tenant, shrinking-tenant, redis-tenant, election, protocol',
  ],
  [['--trace'], '--trace needs --seed: it prints the steps of one story'],
  [['--seed=1', '--from=2'], '--seed plays one story; leave out --seeds and --from, or --seed'],
  [['--put-back=silent-after-a-restore'], '--put-back needs --world dispatch or protocol: it breaks their programs'],
  [['--bias=silent-after-a-restore'], '--bias needs --world dispatch or protocol: they have such stories'],
  [
    ['--bias=silent-after-a-restore', '--put-back=silent-after-a-restore', '--world=dispatch'],
    '--put-back plays the stories of its defect; leave out --bias',
  ],
  [['--from=4294967295', '--seeds=2'], '--from 4294967295 --seeds 2 ends at 4294967296; the last seed is 4294967295'],
])('%j plays nothing, and says why', (args, problem) => {
  expect(read(...args)).toBe(problem);
});
