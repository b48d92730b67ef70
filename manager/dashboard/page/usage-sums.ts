import type { UsageView } from '../views.ts';
import { isJsonObject } from '../../api/json-value.ts';
import { isOfBytes } from './words.ts';

/** The price of an hour of one unit, by resource, in whatever currency. */
export type Prices = Readonly<Record<string, number>>;
type Row = UsageView['rows'][number];

/** Resources that were used: accelerators, then cpu and memory, then the others. */
export function resourcesIn({ rows }: Pick<UsageView, 'rows'>): readonly string[] {
  const rank = (resource: string): number => (resource.includes('/') ? 0 : resource === 'cpu' ? 1 : resource === 'memory' ? 2 : 3);
  return [...new Set(rows.flatMap(({ hours }) => Object.keys(hours)))].toSorted((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

export const costOf = ({ hours }: Pick<Row, 'hours'>, prices: Prices): number =>
  Object.entries(hours).reduce((sum, [resource, used]) => sum + used * (prices[resource] ?? 0), 0);

/** The unit of usage of a resource: `core hour`, `GiB hour of memory`, `nvidia.com/gpu hour`. */
export const hourOf = (resource: string): string =>
  resource === 'cpu'
    ? 'core hour'
    : resource === 'pods'
      ? 'pod hour'
      : isOfBytes(resource)
        ? `GiB hour of ${resource}`
        : `${resource} hour`;
export const hoursOf = (resource: string): string => hourOf(resource).replace('hour', 'hours');

/** Prices as this browser keeps them; whatever is no price is left out. */
export function readPrices(text: string | null): Prices {
  try {
    const value: unknown = JSON.parse(text ?? '{}');
    return isJsonObject(value)
      ? Object.fromEntries(
          Object.entries(value).flatMap(([name, price]) => (typeof price === 'number' && price >= 0 ? [[name, price]] : [])),
        )
      : {};
  } catch {
    return {}; // written by another program, or by hand
  }
}
