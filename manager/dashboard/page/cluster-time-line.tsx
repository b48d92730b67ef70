import type { ClusterTimeLine } from '../past-views.ts';
import { LastHours, resourceChart, wholeNumber, type ShownChart } from './last-hours.tsx';
import { serverNow } from './state.tsx';
import { moment } from './words.ts';

const NOT_RECORDED = 'What Jobs request is of all tenants; Jobs are counted that you may see. Those that left early were suspended, preempted or moved, or the cluster was lost: which of these, when it was lost, and what it had earlier, is not recorded.';

/** How full a cluster was in the last hours, and what became of Jobs that were placed there. */
export function ClusterHours({ name }: { readonly name: string }) {
  return <LastHours name={name} ask={(api, hours) => api.clusterTimeLine(name, hours)} chartsOf={chartsOf} about={NOT_RECORDED} table={(line) => <PlacementTable line={line} />} />;
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

/** The same for whoever reads rather than looks; parts in which nothing happened are left out. */
function PlacementTable({ line: { buckets } }: { readonly line: Pick<ClusterTimeLine, 'buckets'> }) {
  const told = buckets.filter(({ placed, complete, failed, left, running }) => placed + complete + failed + left + running > 0);
  return (
    <details class="as-table">
      <summary>as a table</summary>
      <table>
        <thead>
          <tr>
            <th>From</th>
            <th class="num">Placed</th>
            <th class="num">Complete</th>
            <th class="num">Failed</th>
            <th class="num">Left early</th>
            <th class="num">There at its end</th>
          </tr>
        </thead>
        <tbody>
          {told.map(({ fromMs, placed, complete, failed, left, running }) => (
            <tr key={fromMs}>
              <td>{moment(fromMs, serverNow.peek())}</td>
              {[placed, complete, failed, left, running].map((number, position) => (
                <td class="num" key={position}>
                  {wholeNumber(number)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {told.length === 0 && <p class="empty">Nothing has happened.</p>}
    </details>
  );
}
