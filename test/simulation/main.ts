/** `npm run simulate`: one seed with its trace, or a soak of many. */
import { parseArgs } from 'node:util';
import { type Outcome, simulate } from './simulation.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string', default: '100' },
    from: { type: 'string', default: '1' },
    trace: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const USAGE = `npm run simulate -- [--seeds N] [--from SEED]   runs N seeds (100) and tells what was found
npm run simulate -- --seed SEED [--trace]        runs one seed, and prints each step`;

/** The soak stops when so many seeds have failed. */
const FAILURES_MAX = 10;

if (values.help) console.log(USAGE);
else
  process.exitCode = values.seed === undefined ? await soak(Number(values.from), Number(values.seeds)) : await replay(Number(values.seed));

async function replay(seed: number): Promise<number> {
  const outcome = await simulate(seed, values.trace ? (line) => console.log(line) : undefined);
  report(outcome);
  if (outcome.violations.length === 0) console.log(`seed ${seed}: every promise was kept`);
  return outcome.violations.length === 0 ? 0 : 1;
}

async function soak(from: number, count: number): Promise<number> {
  const startedMs = performance.now();
  const outcomes: Outcome[] = [];
  let failures = 0;
  let stopped = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => (stopped = true));
  for (let seed = from; seed < from + count && failures < FAILURES_MAX && !stopped; seed++) {
    const outcome = await simulate(seed);
    report(outcome);
    if (outcome.violations.length > 0) failures++;
    outcomes.push(outcome);
  }
  const seconds = (performance.now() - startedMs) / 1000;
  const sum = (value: (outcome: Outcome) => number): number => outcomes.reduce((total, outcome) => total + value(outcome), 0);
  const faults = new Map<string, number>();
  for (const outcome of outcomes) for (const [kind, number] of outcome.faults) faults.set(kind, (faults.get(kind) ?? 0) + number);
  console.log(`seeds               ${outcomes.length} (${from} to ${from + outcomes.length - 1}), ${failures} failed`);
  console.log(`seconds             ${seconds.toFixed(1)} (${(outcomes.length / seconds).toFixed(1)} seeds a second)`);
  console.log(`steps               ${sum(({ steps }) => steps)}`);
  console.log(`jobs finished       ${sum(({ jobsFinished }) => jobsFinished)}`);
  console.log(`pods ended          ${sum(({ podsEnded }) => podsEnded)}`);
  console.log(`calls of workers    ${sum(({ calls }) => calls)}`);
  console.log(`worker processes    ${sum(({ incarnations }) => incarnations)}`);
  for (const [kind, number] of [...faults].toSorted(([a], [b]) => a.localeCompare(b))) console.log(`${kind.padEnd(19)} ${number}`);
  return failures === 0 ? 0 : 1;
}

function report({ seed, violations }: Outcome): void {
  if (violations.length === 0) return;
  console.log(`seed ${seed} failed; replay it with: npm run simulate -- --seed ${seed} --trace`);
  for (const violation of violations.slice(0, 5)) console.log(`  ${violation}`);
}
