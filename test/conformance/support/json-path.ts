/**
 * The paths of the recorded cases: `a.b.0.c`, `list[name=x].c`, `list.*.c` (of each), and JSON pointers (`/a/b.c`)
 * where keys hold dots.
 */

/** What is at the path; undefined where nothing is. A `*` gives a list with null for elements that have nothing there. */
export function valueAt(root: unknown, path: string): unknown {
  return follow(root, stepsOf(path));
}

/** Puts a value there, making the objects on the way. */
export function setAt(root: unknown, path: string, value: unknown): void {
  const steps = stepsOf(path);
  const last = steps.pop();
  let parent = root;
  for (const step of steps) {
    if (!isObject(parent)) throw new Error(`${path} leads through something that is no object`);
    let next = child(parent, step);
    if (next === undefined) {
      next = {};
      parent[step] = next;
    }
    parent = next;
  }
  if (!isObject(parent) || last === undefined) throw new Error(`nothing can be set at ${path}`);
  parent[last] = value;
}

/** Takes a field or an element away, if it is there. */
export function removeAt(root: unknown, path: string): void {
  const steps = stepsOf(path);
  const last = steps.pop();
  const parent = follow(root, steps);
  if (!isObject(parent) || last === undefined) return;
  if (Array.isArray(parent)) {
    const position = last.startsWith('[') ? parent.indexOf(child(parent, last)) : Number(last);
    if (position in parent) parent.splice(position, 1);
  } else {
    delete parent[last];
  }
}

/** Objects and arrays. */
export const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const stepsOf = (path: string): string[] =>
  path.startsWith('/')
    ? path
        .slice(1)
        .split('/')
        .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
    : (path.match(/\[[^\]]*\]|[^.[\]]+/g) ?? []);

function follow(root: unknown, steps: readonly string[]): unknown {
  const star = steps.indexOf('*');
  if (star < 0) return steps.reduce(child, root);
  const list = steps.slice(0, star).reduce(child, root);
  return Array.isArray(list) ? list.map((element) => follow(element, steps.slice(star + 1)) ?? null) : undefined;
}

function child(parent: unknown, step: string): unknown {
  if (!isObject(parent)) return undefined;
  const [, key, value] = /^\[([^=]+)=(.*)\]$/.exec(step) ?? [];
  if (key === undefined || !Array.isArray(parent)) return parent[step];
  return parent.find((element) => String(valueAt(element, key)) === value);
}
