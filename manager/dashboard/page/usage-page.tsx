import { useState } from 'preact/hooks';
import type { UsageView } from '../views.ts';
import { useAsked } from './asked.tsx';
import { Bar, Notice } from './parts.tsx';
import { jobsAt, usageAt } from './place.ts';
import { costOf, hourOf, hoursOf, readPrices, resourcesIn, type Prices } from './usage-sums.ts';

const GROUPS = { namespace: 'namespace', user: 'user', queue: 'queue', cluster: 'cluster' } as const;
/** What is asked of a group leads to its Jobs. */
const FILTERS: Readonly<Record<string, string>> = { queue: 'clusterQueue' };
const DAYS = [1, 7, 30, 90] as const;
const PRICES_KEY = 'switchyard-prices';

/** Who used what: hours of each resource, and their cost at the prices of this browser. */
export function UsagePage({ by, days }: { readonly by: string; readonly days: number }) {
  const { value: usage, problem } = useAsked((api) => api.usage(by, days), `${by} ${days}`, undefined);
  return (
    <article class="job-page">
      <header>
        <h1>Usage</h1>
        <span class="choices">
          {DAYS.map((each) => (
            <a key={each} href={usageAt(by, each)} aria-current={each === days ? 'true' : undefined}>
              {each === 1 ? 'a day' : `${each} days`}
            </a>
          ))}
        </span>
        <span class="choices">
          <span class="soft">by</span>
          {Object.entries(GROUPS).map(([each, word]) => (
            <a key={each} href={usageAt(each, days)} aria-current={each === by ? 'true' : undefined}>
              {word}
            </a>
          ))}
        </span>
      </header>
      {usage === undefined && problem !== undefined && <Notice kind={problem.status === 404 ? 'none' : 'bad'} title="Usage is not shown" about={problem.message} />}
      {usage === undefined && problem === undefined && <Notice kind="wait" title="Summing it up …" />}
      {usage !== undefined && <Sums usage={usage} />}
    </article>
  );
}

const hours = (number: number): string => number.toLocaleString('en', { maximumFractionDigits: number < 10 ? 2 : 0 });
const money = (number: number): string => number.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 });

function Sums({ usage }: { readonly usage: UsageView }) {
  const [prices, setPrices] = useState(() => readPrices(localStorage.getItem(PRICES_KEY)));
  const resources = resourcesIn(usage);
  if (usage.rows.length === 0) return <Notice kind="none" title="No Job that has ended was admitted then" about="Jobs that have not ended are not counted." />;
  const change = (next: Prices): void => {
    setPrices(next);
    localStorage.setItem(PRICES_KEY, JSON.stringify(next));
  };
  return (
    <>
      {usage.isPartial && <p class="problem">More Jobs ended than could be read: the earliest are missing. Choose a shorter period.</p>}
      <section class="card">
        <SumsTable usage={usage} resources={resources} prices={prices} />
        <p class="soft">What ended Jobs requested, used or not, while they were admitted. Jobs that have not ended are not counted.</p>
      </section>
      <section class="card">
        <h2>Prices</h2>
        <form class="prices" onSubmit={(event) => event.preventDefault()}>
          {resources.map((resource) => (
            <label key={resource}>
              <span>of a {hourOf(resource)}</span>
              <input
                type="number"
                min="0"
                step="any"
                value={prices[resource] ?? ''}
                onInput={({ currentTarget: { value } }) => change({ ...prices, [resource]: Math.max(0, Number(value)) })}
              />
            </label>
          ))}
        </form>
        <p class="soft">This browser keeps them, in your currency.</p>
      </section>
    </>
  );
}

type SumsProps = { readonly usage: UsageView; readonly resources: readonly string[]; readonly prices: Prices };

function SumsTable({ usage: { rows, by }, resources, prices }: SumsProps) {
  const isPriced = resources.some((resource) => (prices[resource] ?? 0) > 0);
  const first = resources[0] ?? '';
  const most = Math.max(...rows.map(({ hours: used }) => used[first] ?? 0), Number.MIN_VALUE);
  return (
    <table class="rows">
      <thead>
        <tr>
          <th>{GROUPS[by]}</th>
          <th class="num">Jobs</th>
          <th class="num">Failed</th>
          <th class="num">Hours admitted</th>
          {resources.map((resource) => (
            <th class="num" key={resource}>
              {hoursOf(resource)}
            </th>
          ))}
          {isPriced && <th class="num">Cost</th>}
          <th>
            <span class="hidden">Share of {hoursOf(first)}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={row.name}>
            <td>{row.name === '' ? <span class="soft">not known</span> : <a href={jobsAt({ [FILTERS[by] ?? by]: row.name })}>{row.name}</a>}</td>
            <td class="num" data-label="Jobs">
              {row.jobs.toLocaleString('en')}
            </td>
            <td class={row.failed > 0 ? 'num red' : 'num'} data-label="Failed">
              {row.failed.toLocaleString('en')}
            </td>
            <td class="num" data-label="Hours admitted">
              {hours(row.admittedHours)}
            </td>
            {resources.map((resource) => (
              <td class="num" key={resource} data-label={hoursOf(resource)}>
                {row.hours[resource] === undefined ? '' : hours(row.hours[resource])}
              </td>
            ))}
            {isPriced && (
              <td class="num" data-label="Cost">
                {money(costOf(row, prices))}
              </td>
            )}
            <td class="share">
              <Bar share={(row.hours[first] ?? 0) / most} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
