/**
 * A path as a Go slice. Upstream appends to paths in place where there is room, so a path that was built earlier changes when a longer one
 * is built on its beginning: in `self.l.all(x, x.a.all(y, y == x.b))` the loop over `x.a` is reckoned to be as long as `x.b`. An API server
 * refuses by what comes of it, so paths are kept here in the same way.
 */
export type SharedPath = { readonly backing: string[]; readonly length: number; readonly capacity: number };

export const pathTo = (name: string): SharedPath => ({ backing: [name], length: 1, capacity: 1 });

/** The path with one part more: in the same memory while there is room, else in twice as much. */
export function appended(path: SharedPath | undefined, part: string): SharedPath {
  if (path === undefined) return pathTo(part);
  const { backing, length, capacity } = path;
  if (length === capacity) return { backing: [...backing.slice(0, length), part], length: length + 1, capacity: capacity * 2 };
  backing[length] = part;
  return { backing, length: length + 1, capacity };
}

/** The parts as they are now. */
export const partsOf = ({ backing, length }: SharedPath): readonly string[] => backing.slice(0, length);
