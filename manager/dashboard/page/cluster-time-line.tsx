import type { ClusterTimeLine, PlacementBucket } from '../past-views.ts';
import { LastHours, resourceChart, type ShownChart } from './last-hours.tsx';
import { BucketTable, type BucketColumn } from './time-line.tsx';
import { wholeNumber } from './words.ts';

const NOT_RECORDED = 'What Jobs request is of all tenants; Jobs are counted that you may see. Those that left early were suspended, preempted or moved, or the cluster was lost: which of these, when it was lost, and what it had earlier, is not recorded.';

/** How full a cluster was in the last hours, and what became of Jobs that were placed there. */
export function ClusterHours({ name }: { readonly name: string }) {
  return <LastHours name={name} ask={(api, hours) => api.clusterTimeLine(name, hours)} chartsOf={chartsOf} about={NOT_RECORDED} table={(line) => <BucketTable buckets={line.buckets} columns={PLACEMENT_COLUMNS} />} />;
}

function chartsOf({ buckets, held }: ClusterTimeLine): readonly ShownChart[] {
  const running: ShownChart = {
    title: 'Jobs there',
    last: wholeNumber(buckets.at(-1)?.running ?? 0),
    written: wholeNumber,
    series: [{ label: 'running', colour: '--running', kind: 'Area', values: buckets.map((bucket) => bucket.running) }],
  };
  const total = (of: (bucket: ClusterTimeLine['buckets'][number]) => number): string => wholeNumber(buckets.reduce((sum, bucket) => sum + of(bucket), 0));
  const flows: ShownChart = {
    title: 'Placements',
    last: `${total(({ placed }) => placed)} placed, ${total(({ left }) => left)} left early`,
    written: wholeNumber,
    series: [
      { label: 'placed', colour: '--accent', kind: 'Line', values: buckets.map(({ placed }) => placed) },
      // What ended stands in one bar: each part on top of those after it.
      { label: 'left early', colour: '--waiting', kind: 'Bar', values: buckets.map(({ complete, failed, left }) => complete + failed + left) },
      { label: 'failed', colour: '--failed', kind: 'Bar', values: buckets.map(({ complete, failed }) => complete + failed) },
      { label: 'complete', colour: '--done', kind: 'Bar', values: buckets.map(({ complete }) => complete) },
    ],
  };
  const resources = held.map(({ resource, levels, capacity }) => resourceChart(resource, levels, capacity === undefined ? undefined : { label: 'what it has today', of: capacity }));
  return [...resources, running, flows];
}

const PLACEMENT_COLUMNS: readonly BucketColumn<PlacementBucket>[] = [
  { head: 'Placed', of: ({ placed }) => placed },
  { head: 'Complete', of: ({ complete }) => complete },
  { head: 'Failed', of: ({ failed }) => failed },
  { head: 'Left early', of: ({ left }) => left },
  { head: 'There at its end', of: ({ running }) => running },
];
