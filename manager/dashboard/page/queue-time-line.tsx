import { useMemo, useState } from 'preact/hooks';
import type { QueueTimeLine } from '../views.ts';
import { useAsked } from './asked.tsx';
import { Chart, type Series } from './chart.tsx';
import { HOURS_SHOWN } from './place.ts';
import { overview } from './state.tsx';
import { AsTable, Legend, useRarely } from './time-line.tsx';
import { isOfBytes, quantity } from './words.ts';

const HOURS = [1, 6, 24, 168] as const;

/** What a queue had and let wait in the last hours, and its part of the whole. */
export function QueueHours({ name }: { readonly name: string }) {
  const [hours, setHours] = useState<number>(HOURS_SHOWN);
  const changes = useRarely(overview.value);
  const { value: line, problem } = useAsked((api) => api.queueTimeLine(name, hours), `${name} ${hours}`, changes);
  const charts = useMemo(() => (line === undefined ? [] : chartsOf(line)), [line]);
  const from = useMemo(() => line?.buckets.map(({ fromMs }) => fromMs) ?? [], [line]);
  return (
    <section class="card">
      <h2>
        The last hours{' '}
        <span class="choices">
          {HOURS.map((each) => (
            <button key={each} type="button" class="quiet" aria-pressed={each === hours} onClick={() => setHours(each)}>
              {each === 168 ? 'week' : `${each} h`}
            </button>
          ))}
        </span>
      </h2>
      {line === undefined && problem !== undefined && problem.status !== 404 && <p class="soft">They cannot be shown: {problem.message}</p>}
      {line !== undefined && (
        <>
          <div class="charts">
            {charts.map(({ title, last, series, written, isBinary }) => (
              <figure key={title}>
                <figcaption>
                  {title} <b>{last}</b> <Legend series={series} />
                </figcaption>
                <Chart fromMs={from} bucketMs={line.bucketMs} series={series} height={100} written={written} isBinary={isBinary} />
              </figure>
            ))}
          </div>
          {line.note !== undefined && <p class="soft">{line.note}</p>}
          <AsTable line={line} />
        </>
      )}
    </section>
  );
}

type Shown = { readonly title: string; readonly last: string; readonly series: readonly Series[]; readonly written: (value: number) => string; readonly isBinary?: boolean };

function chartsOf({ buckets, held, share }: QueueTimeLine): Shown[] {
  const last = <T,>(values: readonly T[]): T | undefined => values.at(-1);
  const jobs: Shown = {
    title: 'Jobs',
    last: `${last(buckets)?.running ?? 0} run, ${last(buckets)?.waiting ?? 0} wait`,
    written: (value) => value.toLocaleString('en'),
    series: [
      { label: 'waiting', colour: '--waiting', kind: 'Area', values: buckets.map(({ waiting }) => waiting) },
      { label: 'running', colour: '--running', kind: 'Area', values: buckets.map(({ running }) => running) },
    ],
  };
  const shares: Shown = {
    title: 'Its share of all admitted Jobs',
    last: percent(last(share) ?? 0),
    written: percent,
    series: [{ label: 'share', colour: '--accent', kind: 'Area', values: share }],
  };
  const resources = held.map(
    ({ resource, levels, nominal }): Shown => {
      const isBinary = isOfBytes(resource);
      const unit = isBinary ? MI : 1;
      return {
        title: resource,
        last: `${amount(resource, (last(levels) ?? 0) / unit)} of ${amount(resource, nominal / unit)}`,
        written: (value) => amount(resource, value),
        isBinary,
        series: [
          { label: 'held', colour: '--running', kind: 'Area', values: levels.map((level) => level / unit) },
          { label: 'its quota today', colour: '--soft', kind: 'Line', values: levels.map(() => nominal / unit) },
        ],
      };
    },
  );
  return [jobs, ...resources, ...(share.length === 0 ? [] : [shares])];
}

const percent = (part: number): string => `${Math.round(part * 100)}%`;
const MI = 2 ** 20;
/** Bytes are given in Mi, which become what people read. */
const amount = (resource: string, value: number): string => quantity(isOfBytes(resource) ? `${Math.round(value)}Mi` : String(Math.round(value * 100) / 100));
