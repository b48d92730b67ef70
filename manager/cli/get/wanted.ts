import { FlagError } from '../../../shared/runtime/flags.ts';

/** A kind, as it was asked for, and the names of its objects; none: all of them. */
export type Wanted = { readonly word: string; readonly names: readonly string[] };

/** The word for Jobs and the objects of all other kinds of work. */
export const EVERY_KIND = 'all';

/** As kubectl takes it: `KIND [NAME...]`, or `KIND/NAME...`. Throws {@link FlagError}. */
export function wantedOf([first = EVERY_KIND, ...rest]: readonly string[]): readonly Wanted[] {
  if (!first.includes('/')) {
    const split = rest.find((name) => name.includes('/'));
    if (split !== undefined)
      throw new FlagError(
        `NAME: ${JSON.stringify(split)} has a slash; write KIND/NAME without a KIND before it, and a namespace as --namespace`,
      );
    if (first === EVERY_KIND && rest.length > 0)
      throw new FlagError(`NAME: ${EVERY_KIND} is no kind; write KIND/${rest[0]}, such as job/${rest[0]}`);
    return [{ word: first, names: rest }];
  }
  const names = new Map<string, string[]>();
  for (const operand of [first, ...rest]) {
    const [word = '', name = '', ...more] = operand.split('/');
    if (word === '' || name === '' || more.length > 0 || word === EVERY_KIND)
      throw new FlagError(`NAME: ${JSON.stringify(operand)} names no object; write KIND/NAME, such as job/train`);
    names.set(word, [...(names.get(word) ?? []), name]);
  }
  return [...names].map(([word, named]) => ({ word, names: named }));
}
