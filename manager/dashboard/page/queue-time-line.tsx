import type { QueueTimeLine } from '../past-views.ts';
import { LastHours, resourceChart, type ShownChart } from './last-hours.tsx';
import { BucketTable, JOB_COLUMNS } from './time-line.tsx';
import { wholeNumber } from './words.ts';

/** What a queue had and let wait in the last hours, and its part of the whole. */
export function QueueHours({ name }: { readonly name: string }) {
  return <LastHours name={name} ask={(api, hours) => api.queueTimeLine(name, hours)} chartsOf={chartsOf} table={(line) => <BucketTable buckets={line.buckets} columns={JOB_COLUMNS} />} />;
}

function chartsOf({ buckets, held, share }: QueueTimeLine): readonly ShownChart[] {
  const last = buckets.at(-1);
  const jobs: ShownChart = {
    title: 'Jobs',
    last: `${last?.running ?? 0} run, ${last?.waiting ?? 0} wait`,
    written: wholeNumber,
    series: [
      { label: 'waiting', colour: '--waiting', kind: 'Area', values: buckets.map(({ waiting }) => waiting) },
      { label: 'running', colour: '--running', kind: 'Area', values: buckets.map(({ running }) => running) },
    ],
  };
  const shares: ShownChart = {
    title: 'Its share of all admitted Jobs',
    last: percent(share.at(-1) ?? 0),
    written: percent,
    series: [{ label: 'share', colour: '--accent', kind: 'Area', values: share }],
  };
  const resources = held.map(({ resource, levels, nominal }) => resourceChart(resource, levels, { label: 'its quota today', of: nominal }));
  return [jobs, ...resources, ...(share.length === 0 ? [] : [shares])];
}

const percent = (part: number): string => `${Math.round(part * 100)}%`;
