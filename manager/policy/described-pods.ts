import type { DescribedPodSet } from '../api/work-kind.ts';

/**
 * CEL: the most pods at once of an object, by the pod sets of its description; undefined where only the manager can tell, because a count
 * depends on more than its entry and the spec. As the manager does, it counts no pods where their template is missing.
 */
export function podsOf(object: string, podSets: readonly DescribedPodSet[]): string | undefined {
  const sums = podSets.map(podsOfSet);
  if (sums.includes(undefined)) return undefined;
  // Expressions call the spec by this name.
  return `has(${object}.spec) && type(${object}.spec) == map ? [${object}.spec].map(spec, ${sums.join(' + ')})[0] : 0`;
}

function podsOfSet({ items, count = '1', when, template, defaultTemplate }: DescribedPodSet): string | undefined {
  const conditions = [
    ...(template === undefined || defaultTemplate !== undefined ? [] : [isThere(items === undefined ? template : `item.${template}`)]),
    ...(when === undefined ? [] : [`(${when})`]),
  ];
  if (UNKNOWN.test(`${count} ${when}`)) return undefined;
  const pods = conditions.length === 0 ? `(${count})` : `(${conditions.join(' && ')} ? (${count}) : 0)`;
  return items === undefined ? pods : sumOver(items.replace(/\[\*\]$/, '').split('[*]'), pods);
}

/** Names that expressions of a description may use, and that are not bound here. */
const UNKNOWN = /(?<![.\w'"])(?:object|status|conditions|trueConditions|key|path|parentPath)\b/;

/** The sum over the entries of a list or map, and of those in each of them. */
function sumOver([path = '', ...rest]: readonly string[], pods: string, root = ''): string {
  const entries = `${root}${path.replace(/^\./, '')}`;
  const entry = rest.length === 0 ? 'item' : `parent${rest.length}`;
  const each = rest.length === 0 ? pods : sumOver(rest, pods, `${entry}.`);
  const ofMap = `${entries}.map(name, [${entries}[name]].map(${entry}, ${each})[0]).sum()`;
  const ofList = `${entries}.map(${entry}, ${each}).sum()`;
  return `(!(${isThere(entries)}) ? 0 : type(${entries}) == map ? ${ofMap} : type(${entries}) == list ? ${ofList} : 0)`;
}

/** Whether a field is there, whatever else is. */
function isThere(path: string): string {
  const steps = path.split('.');
  return steps
    .slice(1)
    .map((step, index) => [steps.slice(0, index + 1).join('.'), step] as const)
    .map(([parent, step]) => `type(${parent}) == map && has(${parent}.${step})`)
    .join(' && ');
}
