import type { Random } from '../../shared/runtime/random.ts';
import type { Mutant } from './mutants.ts';

/** `count` of the mutants that `isWanted`: one of each line before a second one of any, so that long lines do not outweigh short ones. */
export function chooseMutants(
  mutants: readonly Mutant[],
  count: number,
  random: Random,
  isWanted: (mutant: Mutant) => boolean = () => true,
): Mutant[] {
  const byLine = Map.groupBy(shuffled(mutants, random), ({ file, line }) => `${file}:${line}`);
  const chosen: Mutant[] = [];
  for (const mutant of inRounds(shuffled([...byLine.values()], random))) {
    if (chosen.length === count) break;
    if (isWanted(mutant)) chosen.push(mutant);
  }
  return chosen;
}

function* inRounds<T>(rows: readonly (readonly T[])[]): Generator<T> {
  for (let round = 0; rows.some((row) => row.length > round); round++) {
    for (const row of rows) {
      const item = row[round];
      if (item !== undefined) yield item;
    }
  }
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
