/**
 * A set of field paths in the form of `fieldsV1` in managedFields: a tree whose keys are path elements, `f:name` for a
 * field, `k:{"name":"c"}` for an element of a keyed list, `v:"x"` for an element of a set. A path is a member if its
 * node has no children or has the key `.`. Sets are never changed, and may share nodes.
 */
export type FieldSet = { readonly [element: string]: FieldSet };

export const EMPTY_SET: FieldSet = {};
const SELF = '.';

export function isEmptySet(set: FieldSet): boolean {
  for (const _ in set) return false;
  return true;
}

/** Whether the path that leads to this node is itself in the set. */
export const isMember = (node: FieldSet): boolean => node[SELF] !== undefined || isEmptySet(node);

/** The node of a path with these children; undefined when there is nothing to keep. */
export function makeNode(member: boolean, children: { [element: string]: FieldSet }): FieldSet | undefined {
  if (isEmptySet(children)) return member ? EMPTY_SET : undefined;
  return member ? { [SELF]: EMPTY_SET, ...children } : children;
}

export function forEachChild(node: FieldSet, visit: (element: string, child: FieldSet) => void): void {
  for (const element in node) {
    const child = node[element];
    if (element !== SELF && child !== undefined) visit(element, child);
  }
}

/** The node of a path element; undefined if no path of the set goes through it. */
export const childOf = (node: FieldSet | undefined, element: string): FieldSet | undefined =>
  element === SELF ? undefined : node?.[element];

export const union = (left: FieldSet, right: FieldSet): FieldSet => {
  if (isEmptySet(left)) return right;
  return isEmptySet(right) ? left : (uniteNodes(left, right, false) ?? EMPTY_SET);
};

function uniteNodes(left: FieldSet, right: FieldSet, member: boolean): FieldSet | undefined {
  const children: { [element: string]: FieldSet } = {};
  forEachChild(left, (element, child) => {
    children[element] = child;
  });
  forEachChild(right, (element, child) => {
    const own = children[element];
    const united = own === undefined ? child : uniteNodes(own, child, isMember(own) || isMember(child));
    if (united !== undefined) children[element] = united;
  });
  return makeNode(member, children);
}

/** Paths of `left` that are not in `right`. */
export const difference = (left: FieldSet, right: FieldSet): FieldSet =>
  isEmptySet(right) ? left : (subtractNodes(left, right, false) ?? EMPTY_SET);

function subtractNodes(left: FieldSet, right: FieldSet, member: boolean): FieldSet | undefined {
  const children: { [element: string]: FieldSet } = {};
  forEachChild(left, (element, child) => {
    const other = childOf(right, element);
    const rest = other === undefined ? child : subtractNodes(child, other, isMember(child) && !isMember(other));
    if (rest !== undefined) children[element] = rest;
  });
  return makeNode(member, children);
}

/** Paths that are in both. */
export const intersection = (left: FieldSet, right: FieldSet): FieldSet => intersectNodes(left, right, false) ?? EMPTY_SET;

function intersectNodes(left: FieldSet, right: FieldSet, member: boolean): FieldSet | undefined {
  const children: { [element: string]: FieldSet } = {};
  forEachChild(left, (element, child) => {
    const other = childOf(right, element);
    const both = other === undefined ? undefined : intersectNodes(child, other, isMember(child) && isMember(other));
    if (both !== undefined) children[element] = both;
  });
  return makeNode(member, children);
}

/** Every path of the set in message form, such as `.spec.containers[name="c"].image`: of each level the members first. */
export function pathsOf(set: FieldSet, prefix = ''): string[] {
  const below = Object.keys(set)
    .sort()
    .flatMap((element) => {
      const node = childOf(set, element);
      return node === undefined ? [] : [{ node, path: prefix + elementText(element) }];
    });
  return [...below.filter(({ node }) => isMember(node)).map(({ path }) => path), ...below.flatMap(({ node, path }) => pathsOf(node, path))];
}

function elementText(element: string): string {
  const text = element.slice(2);
  switch (element.slice(0, 2)) {
    case 'k:': {
      const keys: Record<string, unknown> = JSON.parse(text);
      return `[${Object.entries(keys)
        .map(([key, value]) => `${key}=${JSON.stringify(value)}`)
        .join(',')}]`;
    }
    case 'v:':
      return `[=${text}]`;
    case 'i:':
      return `[${text}]`;
    default:
      return `.${text}`;
  }
}
