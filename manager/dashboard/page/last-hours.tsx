import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import type { TimeLine } from '../past-views.ts';
import type { Api } from './api.ts';
import { useAsked } from './asked.tsx';
import { Chart, type Series } from './chart.tsx';
import { HOURS_SHOWN } from './place.ts';
import { overview } from './state.tsx';
import { Legend, useRarely } from './time-line.tsx';
import { isOfBytes, quantity } from './words.ts';

const HOURS = [1, 6, 24, 168] as const;

/** One chart of a card: `last` is its end in words. */
export type ShownChart = {
  readonly title: string;
  readonly last: string;
  readonly series: readonly Series[];
  readonly written: (value: number) => string;
  readonly isBinary?: boolean;
};

type Hours = Pick<TimeLine, 'bucketMs' | 'note'> & { readonly buckets: readonly { readonly fromMs: number }[] };
type LastHoursProps<Line extends Hours> = {
  readonly name: string;
  readonly ask: (api: Api, hours: number) => Promise<Line>;
  readonly chartsOf: (line: Line) => readonly ShownChart[];
  /** What is never recorded, beside what the answer says is missing. */
  readonly about?: string;
  readonly table: (line: Line) => ComponentChildren;
};

/** The last hours of a queue or cluster, as charts and as a table. */
export function LastHours<Line extends Hours>({ name, ask, chartsOf, about, table }: LastHoursProps<Line>) {
  const [hours, setHours] = useState<number>(HOURS_SHOWN);
  const changes = useRarely(overview.value);
  const { value: line, problem } = useAsked((api) => ask(api, hours), `${name} ${hours}`, changes);
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
          {about !== undefined && <p class="soft">{about}</p>}
          {line.note !== undefined && <p class="soft">{line.note}</p>}
          {table(line)}
        </>
      )}
    </section>
  );
}

/** What was held of a resource, under its bound of today; undefined: there is none. */
export function resourceChart(resource: string, levels: readonly number[], bound: { readonly label: string; readonly of: number } | undefined): ShownChart {
  const isBinary = isOfBytes(resource);
  const unit = isBinary ? MI : 1;
  const used = amount(resource, (levels.at(-1) ?? 0) / unit);
  return {
    title: resource,
    last: bound === undefined ? used : `${used} of ${amount(resource, bound.of / unit)}`,
    written: (value) => amount(resource, value),
    isBinary,
    series: [
      { label: 'held', colour: '--running', kind: 'Area', values: levels.map((level) => level / unit) },
      ...(bound === undefined ? [] : [{ label: bound.label, colour: '--soft', kind: 'Line' as const, values: levels.map(() => bound.of / unit) }]),
    ],
  };
}

const MI = 2 ** 20;
/** Bytes are given in Mi, which become what people read. */
const amount = (resource: string, value: number): string => quantity(isOfBytes(resource) ? `${Math.round(value)}Mi` : String(Math.round(value * 100) / 100));
