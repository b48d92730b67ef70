import { isJsonObject } from './json-value.ts';

/** The way to a field: names, and places in lists. */
export type FieldPath = readonly (string | number)[];

/** Reads `spec.components[0].template`, as {@link pathText} writes it; undefined for any other text. */
export function parsePath(text: string): FieldPath | undefined {
  if (text.length > LENGTH_MAX || !/^[A-Za-z_][\w-]*(\.[A-Za-z_][\w-]*|\[\d{1,5}\])*$/.test(text)) return undefined;
  return [...text.matchAll(/([A-Za-z_][\w-]*)|\[(\d+)\]/g)].map(([, name, index]) => name ?? Number(index));
}
const LENGTH_MAX = 512;

export const pathText = (path: FieldPath): string =>
  path.map((step, at) => (typeof step === 'number' ? `[${step}]` : at === 0 ? step : `.${step}`)).join('');

/** What stands there; undefined where nothing does. */
export const valueAt = (root: unknown, path: FieldPath): unknown => path.reduce<unknown>(child, root);

function child(value: unknown, step: string | number): unknown {
  if (typeof step === 'number') return Array.isArray(value) ? (value as readonly unknown[])[step] : undefined;
  return isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
}

/** The same with this value there; missing objects on the way are made. A path through a list that is not there changes nothing. */
export function withValueAt<T>(root: T, path: FieldPath, value: unknown): T {
  const [step, ...rest] = path;
  if (step === undefined) return value as T;
  if (typeof step === 'number') {
    if (!Array.isArray(root) || step >= root.length) return root;
    return root.map((each: unknown, index) => (index === step ? withValueAt(each, rest, value) : each)) as T;
  }
  const fields = isJsonObject(root) ? root : {};
  return { ...fields, [step]: withValueAt(child(fields, step), rest, value) } as T;
}

/** The same without the field; what is on the way stays. */
export function withoutField<T>(root: T, path: FieldPath): T {
  const [step, ...rest] = path;
  if (typeof step !== 'string' || !isJsonObject(root) || !Object.hasOwn(root, step)) return root;
  const { [step]: value, ...others } = root;
  return (rest.length === 0 ? others : { ...root, [step]: withoutField(value, rest) }) as T;
}

/** The operations of a JSON patch that put a value there, missing objects on the way included. */
export function patchOperations(root: unknown, path: FieldPath, value: unknown): readonly object[] {
  const parents = path.slice(0, -1).map((_, at) => path.slice(0, at + 1));
  const missing = parents.filter((parent) => valueAt(root, parent) === undefined || valueAt(root, parent) === null);
  return [...missing.map((parent) => addition(parent, {})), addition(path, value)];
}

const addition = (path: FieldPath, value: unknown): object => ({
  op: 'add',
  path: `/${path.map((step) => String(step).replaceAll('~', '~0').replaceAll('/', '~1')).join('/')}`,
  value,
});

/** One entry of a list or map. */
export type Entry = {
  readonly path: FieldPath;
  readonly key: string | number;
  readonly value: unknown;
  /** The entry of the list around it; empty: the object itself. */
  readonly parentPath: FieldPath;
};

/** The entries that `spec.components[*].podSets` leads to: of the last list or map, in that of each entry of those before. */
export function entriesAt(root: unknown, pattern: string): readonly Entry[] {
  const parts = pattern.replace(/\[\*\]$/, '').split('[*]');
  return parts.reduce<readonly Entry[]>(
    (parents, part) => {
      const steps = part.replace(/^\./, '').split('.');
      return parents.flatMap((parent) => childrenOf(root, [...parent.path, ...steps], parent.path));
    },
    [{ path: [], key: '', value: root, parentPath: [] }],
  );
}

function childrenOf(root: unknown, path: FieldPath, parentPath: FieldPath): Entry[] {
  const value = valueAt(root, path);
  const entries: [string | number, unknown][] = Array.isArray(value)
    ? value.map((each: unknown, index) => [index, each])
    : Object.entries(isJsonObject(value) ? value : {});
  return entries.slice(0, ENTRIES_MAX).map(([key, each]) => ({ path: [...path, key], key, value: each, parentPath }));
}

/** More pod sets than any kind has. */
export const ENTRIES_MAX = 1000;
