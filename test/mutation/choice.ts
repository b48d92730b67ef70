import type { Random } from '../../shared/runtime/random.ts';
import type { Mutant } from './mutants.ts';

/** `count` of the mutants: one of each line before a second one of any, so that long lines do not outweigh short ones. */
export function chooseMutants(mutants: readonly Mutant[], count: number, random: Random): Mutant[] {
  const byLine = Map.groupBy(shuffled(mutants, random), ({ file, line }) => `${file}:${line}`);
  const lines = shuffled([...byLine.values()], random);
  const chosen: Mutant[] = [];
  for (let round = 0; chosen.length < count && lines.some((line) => line.length > round); round++) {
    chosen.push(...lines.flatMap((line) => line[round] ?? []));
  }
  return chosen.slice(0, count);
}

function shuffled<T>(items: readonly T[], random: Random): T[] {
  const list = [...items];
  for (let last = list.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    const [a, b] = [list[last], list[other]];
    if (a !== undefined && b !== undefined) [list[last], list[other]] = [b, a];
  }
  return list;
}
