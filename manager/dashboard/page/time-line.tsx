import { useEffect, useMemo, useState } from 'preact/hooks';
import type { PastOverview, TimeBucket, TimeLine } from '../past-views.ts';
import { useAsked, useAskedAtRest } from './asked.tsx';
import { Chart, type Series } from './chart.tsx';
import { Notice, JobChips } from './parts.tsx';
import { clusterAt, queueAt, overviewAt } from './place.ts';
import { serverNow, overview } from './state.tsx';
import { count, moment, wholeNumber } from './words.ts';

const HOURS = [1, 6, 24, 168] as const;
/** While something changes; and when nothing does. */
const ANEW_MS = 15_000;
const IN_ANY_CASE_MS = 300_000;
/** Whoever drags is not asked about at every step. */
const REST_MS = 200;

/** What has happened, in which a moment can be chosen. */
export function OverviewTimeLine({ hours, atMs }: { readonly hours: number; readonly atMs: number | undefined }) {
  const changes = useRarely(overview.value);
  const { value: line, problem } = useAsked((api) => api.timeLine(hours), String(hours), changes);
  const charts = useMemo(() => (line === undefined ? [] : chartsOf(line)), [line]);
  const from = useMemo(() => line?.buckets.map(({ fromMs }) => fromMs) ?? [], [line]);
  const goTo = (ms: number | undefined): void => {
    const last = serverNow.peek() - 1_000;
    location.replace(overviewAt(hours, ms === undefined ? undefined : Math.floor(Math.min(last, Math.max(line?.fromMs ?? 0, ms)) / 1_000) * 1_000));
  };
  const step = (event: KeyboardEvent): void => {
    if (line === undefined) return;
    const by = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 }[event.key];
    if (event.key === 'Escape') goTo(undefined);
    else if (event.key === 'Home') goTo(line.fromMs);
    else if (event.key === 'End') goTo(serverNow.peek());
    else if (by !== undefined) goTo((atMs ?? serverNow.peek()) + by * line.bucketMs);
    else return;
    event.preventDefault();
  };
  return (
    <section class="time-line card" aria-labelledby="time-line-head">
      <h2 id="time-line-head">
        The last hours{' '}
        <span class="choices">
          {HOURS.map((each) => (
            <a key={each} href={overviewAt(each)} aria-current={each === hours ? 'true' : undefined}>
              {each === 168 ? 'week' : `${each} h`}
            </a>
          ))}
        </span>
      </h2>
      {line === undefined && problem !== undefined && <p class="soft">It cannot be shown: {problem.message}</p>}
      {line !== undefined && (
        <>
          <div
            class="moments"
            role="slider"
            tabIndex={0}
            aria-label="Moment at which the yard is shown"
            aria-valuemin={line.fromMs}
            aria-valuemax={line.untilMs}
            aria-valuenow={Math.min(line.untilMs, Math.max(line.fromMs, atMs ?? line.untilMs))}
            aria-valuetext={atMs === undefined ? 'now' : moment(atMs, serverNow.peek())}
            onKeyDown={step}
          >
            {charts.map(({ title, series }) => (
              <figure key={title}>
                <figcaption>
                  {title} <Legend series={series} />
                </figcaption>
                <Chart fromMs={from} bucketMs={line.bucketMs} series={series} height={96} atMs={atMs} onMoment={goTo} />
              </figure>
            ))}
          </div>
          {line.note !== undefined && <p class="soft">{line.note}</p>}
          <BucketTable buckets={line.buckets} columns={JOB_COLUMNS} />
        </>
      )}
    </section>
  );
}

/** How many there were, and how many came and went: one axis for both would make the one or the other invisible. */
const chartsOf = ({ buckets }: TimeLine): readonly { readonly title: string; readonly series: readonly Series[] }[] => [
  { title: 'Jobs that wait and run', series: levelsIn(buckets) },
  { title: 'Jobs that were admitted and ended', series: flowsIn(buckets) },
];
const levelsIn = (buckets: TimeLine['buckets']): readonly Series[] => [
  { label: 'waiting', colour: '--waiting', kind: 'Area', values: buckets.map(({ waiting }) => waiting) },
  { label: 'running', colour: '--running', kind: 'Area', values: buckets.map(({ running }) => running) },
];
const flowsIn = (buckets: TimeLine['buckets']): readonly Series[] => [
  { label: 'admitted', colour: '--accent', kind: 'Line', values: buckets.map(({ admitted }) => admitted) },
  // What failed stands on top of what is complete.
  { label: 'failed', colour: '--failed', kind: 'Bar', values: buckets.map(({ complete, failed }) => complete + failed) },
  { label: 'complete', colour: '--done', kind: 'Bar', values: buckets.map(({ complete }) => complete) },
];

export function Legend({ series }: { readonly series: readonly Series[] }) {
  return (
    <span class="legend" aria-hidden="true">
      {series.map(({ label, colour, kind }) => (
        <span key={label}>
          <i class={kind.toLowerCase()} style={{ color: `var(${colour})` }} /> {label}
        </span>
      ))}
    </span>
  );
}

/** A time line as a table of numbers, for whoever reads rather than looks; parts in which nothing happened are left out. */
export function BucketTable<Bucket extends { readonly fromMs: number }>({ buckets, columns }: { readonly buckets: readonly Bucket[]; readonly columns: readonly BucketColumn<Bucket>[] }) {
  const rows = buckets.map((bucket) => ({ fromMs: bucket.fromMs, numbers: columns.map(({ of }) => of(bucket)) })).filter(({ numbers }) => numbers.some((number) => number > 0));
  return (
    <details class="as-table">
      <summary>as a table</summary>
      <table>
        <thead>
          <tr>
            <th>From</th>
            {columns.map(({ head }) => (
              <th class="num" key={head}>
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ fromMs, numbers }) => (
            <tr key={fromMs}>
              <td>{moment(fromMs, serverNow.peek())}</td>
              {numbers.map((number, position) => (
                <td class="num" key={position}>
                  {wholeNumber(number)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      {rows.length === 0 && <p class="empty">Nothing has happened.</p>}
    </details>
  );
}

export type BucketColumn<Bucket> = { readonly head: string; readonly of: (bucket: Bucket) => number };

export const JOB_COLUMNS: readonly BucketColumn<TimeBucket>[] = [
  { head: 'Created', of: ({ created }) => created },
  { head: 'Admitted', of: ({ admitted }) => admitted },
  { head: 'Complete', of: ({ complete }) => complete },
  { head: 'Failed', of: ({ failed }) => failed },
  { head: 'Waiting at its end', of: ({ waiting }) => waiting },
  { head: 'Running at its end', of: ({ running }) => running },
];

/** Something else whenever `value` has changed, but not more often than this; and now and then in any case. */
export function useRarely(value: unknown): unknown {
  const [known, setKnown] = useState({ value, ms: serverNow.peek() });
  const nowMs = serverNow.value;
  const wait = known.value === value ? IN_ANY_CASE_MS : ANEW_MS;
  useEffect(() => {
    if (nowMs - known.ms >= wait) setKnown({ value, ms: nowMs });
  }, [nowMs, wait]);
  return known;
}

/** The yard as it was: nothing in it moves. */
export function PastOverviewView({ hours, atMs }: { readonly hours: number; readonly atMs: number }) {
  const { value: past, problem } = useAskedAtRest((api) => api.yardAt(atMs), String(atMs), REST_MS);
  return (
    <>
      <p class="past" role="status">
        <span>
          The yard as it was at <b>{moment(past?.atMs ?? atMs, serverNow.peek())}</b>
        </span>
        <a href={overviewAt(hours)}>back to now</a>
      </p>
      {past === undefined && problem === undefined && <Notice kind="wait" title="Looking back …" />}
      {problem !== undefined && <Notice kind="bad" title="That moment cannot be shown" about={problem.message} />}
      {past !== undefined && <Then past={past} />}
    </>
  );
}

function Then({ past: { waiting, running, unknown, note } }: { readonly past: PastOverview }) {
  return (
    <>
      {note !== undefined && <p class="soft past-note">{note}.</p>}
      {unknown !== undefined && (
        <p class="soft past-note">
          Whether {count(unknown.count, 'Job')} waited or ran is not recorded: {unknown.first.join(', ')}
          {unknown.count > unknown.first.length && ' and others'}.
        </p>
      )}
      <section class="queues" aria-labelledby="waited-head">
        <h2 id="waited-head">Waited</h2>
        {waiting.map(({ name, isLocal, count: number, first }) => (
          <article key={name}>
            <header>
              <h3>{isLocal ? name : <a href={queueAt(name)}>{name}</a>}</h3>
              <span class="soft">{count(number, 'Job')}</span>
            </header>
            <JobChips jobs={first} showAge={false}>
              {number > first.length && <span class="more soft">and {(number - first.length).toLocaleString('en')} more</span>}
            </JobChips>
          </article>
        ))}
        {waiting.length === 0 && <p class="empty">Nothing waited that you may see.</p>}
      </section>
      <section class="clusters" aria-labelledby="ran-head">
        <h2 id="ran-head">Ran</h2>
        {running.map(({ name, count: number, first }) => (
          <article key={name}>
            <header>
              <h3>{name === '' ? 'on a cluster that is not known any more' : <a href={clusterAt(name)}>{name}</a>}</h3>
              <span class="soft">{count(number, 'Job')}</span>
            </header>
            <JobChips jobs={first} showAge={false}>
              {number > first.length && <span class="more soft">and {(number - first.length).toLocaleString('en')} more</span>}
            </JobChips>
          </article>
        ))}
        {running.length === 0 && <p class="empty">Nothing ran that you may see.</p>}
      </section>
    </>
  );
}
