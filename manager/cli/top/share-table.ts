import { addRequests, formatAmount, parseRequests, ZERO, type Requests } from '../../api/amount.ts';
import type { SharedQueue } from '../server/shared-queues.ts';
import type { Table } from '../text-table.ts';

/** The share of a user in a ClusterQueue: what the user's LocalQueues use, and all of them. */
type Share = {
  readonly name: string;
  readonly own: Part;
  readonly all: Part;
};
type Part = { readonly admitted: number; readonly waiting: number; readonly holds: Requests };

function shareOf({ name, admitted, waiting, quota, localQueues }: SharedQueue): Share {
  const sum = (parts: readonly Requests[]): Requests => parts.reduce(addRequests, new Map());
  const count = (of: (one: SharedQueue['localQueues'][number]) => number): number => localQueues.reduce((all, each) => all + of(each), 0);
  return {
    name,
    own: {
      admitted: count((each) => each.admitted),
      waiting: count((each) => each.waiting),
      holds: sum(localQueues.map(({ holds }) => parseRequests(holds))),
    },
    all: { admitted, waiting, holds: sum(quota.map(({ resource, used }) => parseRequests({ [resource]: used }))) },
  };
}

/** One line for each ClusterQueue, each figure as YOURS/ALL. */
export function shareTable(queues: readonly SharedQueue[]): Table {
  const shares = queues.map(shareOf);
  const resources = [...new Set(shares.flatMap(({ all }) => [...all.holds.keys()]))];
  const held = ({ holds }: Part, resource: string): string => formatAmount(resource, holds.get(resource) ?? ZERO);
  return {
    heads: ['QUEUE', 'ADMITTED', 'WAITING', ...resources.map((resource) => resource.toUpperCase())],
    spare: resources.slice(2).map((resource) => resource.toUpperCase()),
    rows: shares.map(({ name, own, all }) => ({
      cells: [
        name,
        `${own.admitted}/${all.admitted}`,
        `${own.waiting}/${all.waiting}`,
        ...resources.map((resource) => `${held(own, resource)}/${held(all, resource)}`),
      ],
      note: '',
    })),
  };
}

/** For programs: quantities as Kubernetes writes them; `all` is that of all tenants. */
export const shareValue = (queues: readonly SharedQueue[]): object[] =>
  queues.map(shareOf).map(({ name, own, all }) => ({ name, ...partValue(own), all: partValue(all) }));

const partValue = ({ admitted, waiting, holds }: Part): object => ({
  admitted,
  waiting,
  holds: Object.fromEntries([...holds].map(([resource, amount]) => [resource, formatAmount(resource, amount)])),
});
