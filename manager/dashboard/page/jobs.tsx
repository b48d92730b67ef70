import { useSignalEffect } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { JobLine, JobPage } from '../views.ts';
import { ApiProblem } from './api.ts';
import { Ago, Notice, progressOf, State, stateWord } from './parts.tsx';
import { jobAt, jobsAt } from './place.ts';
import { entry, jobNews, serverNow, yard } from './state.tsx';
import { csvField, duration, firstClause, nameOf, namespaceOf } from './words.ts';
import { clustersIn } from './yard-model.ts';

type Query = Readonly<Record<string, string>>;

const ROW_PX = 34;
const CHUNK = 100;
/** Chunks that are kept: those around what is seen. */
const CHUNKS_MAX = 12;
/** What has come in between is asked for as often as this. */
const REFRESH_MS = 2_500;
const EXPORT_MAX = 100_000;
const STATES: readonly JobLine['state'][] = ['Waiting', 'Held', 'Dispatching', 'Running', 'Resting', 'Complete', 'Failed'];
const GROUPS = { '': 'no groups', state: 'state', queue: 'queue', clusterQueue: 'cluster queue', cluster: 'cluster', namespace: 'namespace', reason: 'reason' };

/** All Jobs, of which only those are fetched that are looked at. What is looked for stands in the address. */
export function Jobs({ query }: { readonly query: Query }) {
  const change = (next: Readonly<Record<string, string | undefined>>): void => {
    location.hash = jobsAt({ ...query, ...next });
  };
  return (
    <div class="jobs">
      <h1 class="hidden">Jobs</h1>
      <Filters query={query} change={change} />
      <Table key={JSON.stringify(query)} query={query} change={change} />
    </div>
  );
}

type Change = (next: Readonly<Record<string, string | undefined>>) => void;

function Filters({ query, change }: { readonly query: Query; readonly change: Change }) {
  const chosen = new Set((query['state'] ?? '').split(',').filter((each) => each !== ''));
  const [text, setText] = useState(query['text'] ?? '');
  useEffect(() => setText(query['text'] ?? ''), [query['text']]);
  useEffect(() => {
    if (text === (query['text'] ?? '')) return undefined;
    const timer = setTimeout(() => change({ text }), 250);
    return () => clearTimeout(timer);
  }, [text]);
  const toggle = (state: string): void => {
    const next = new Set(chosen);
    if (!next.delete(state)) next.add(state);
    change({ state: [...next].join(',') });
  };
  const clusters = clustersIn(yard.value ?? new Map());
  const others = ['namespace', 'queue', 'clusterQueue', 'reason'].filter((name) => query[name] !== undefined);
  return (
    <search class="filters">
      <input
        id="filter-text"
        type="search"
        placeholder="Name or reason   /"
        aria-label="Part of the name, or of why it waits"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <div class="states" role="group" aria-label="States">
        {STATES.map((state) => (
          <button key={state} type="button" class={`pick ${state.toLowerCase()}`} aria-pressed={chosen.has(state)} onClick={() => toggle(state)}>
            {stateWord(state)}
          </button>
        ))}
      </div>
      {clusters.length > 0 && (
        <label>
          <span class="soft">on</span>
          <select value={query['cluster'] ?? ''} aria-label="Cluster" onChange={(event) => change({ cluster: event.currentTarget.value })}>
            <option value="">any cluster</option>
            {clusters.map(({ name }) => (
              <option key={name} value={name}>
                {name}
              </option>
            ))}
          </select>
        </label>
      )}
      <label>
        <span class="soft">by</span>
        <select value={query['group'] ?? ''} aria-label="Group by" onChange={(event) => change({ group: event.currentTarget.value })}>
          {Object.entries(GROUPS).map(([value, label]) => (
            <option key={value} value={value}>
              {label}
            </option>
          ))}
        </select>
      </label>
      {others.map((name) => (
        <button key={name} type="button" class="token" onClick={() => change({ [name]: undefined })} title="Take this filter off">
          {name === 'clusterQueue' ? 'cluster queue' : name}: {query[name]} ×
        </button>
      ))}
    </search>
  );
}

type Loaded = { readonly total: number; readonly chunks: ReadonlyMap<number, readonly JobLine[]>; readonly groups: JobPage['groups'] };

function Table({ query, change }: { readonly query: Query; readonly change: Change }) {
  const [loaded, setLoaded] = useState<Loaded | undefined>(undefined);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  const scroller = useRef<HTMLDivElement>(null);
  const asked = useRef(new Set<number>());
  const stale = useRef(false);
  const who = entry.value;

  const load = async (chunk: number, isAnew = false): Promise<void> => {
    if (who.kind !== 'Inside' || (asked.current.has(chunk) && !isAnew)) return;
    asked.current.add(chunk);
    try {
      const page = await who.api.jobs({ ...query, offset: String(chunk * CHUNK), limit: String(CHUNK) });
      setProblem(undefined);
      setLoaded((before) => {
        const chunks = new Map(before?.total === page.total && !isAnew ? before.chunks : isAnew ? before?.chunks : []);
        chunks.set(chunk, page.jobs);
        const near = [...chunks].toSorted(([a], [b]) => Math.abs(a - chunk) - Math.abs(b - chunk)).slice(0, CHUNKS_MAX);
        asked.current = new Set(near.map(([each]) => each));
        return { total: page.total, chunks: new Map(near), groups: page.groups };
      });
    } catch (error) {
      asked.current.delete(chunk);
      setProblem(error instanceof ApiProblem ? error.message : String(error));
    }
  };

  const first = Math.max(0, Math.floor(top / ROW_PX) - 8);
  const last = Math.ceil((top + height) / ROW_PX) + 8;
  const from = Math.floor(first / CHUNK);
  const to = Math.floor(Math.min(last, Math.max(0, (loaded?.total ?? 1) - 1)) / CHUNK);
  useEffect(() => {
    for (let chunk = from; chunk <= to; chunk++) void load(chunk);
  }, [from, to]);

  // What is on the page changes where it stands; what would come or go is asked for.
  useSignalEffect(() => {
    const { value: news } = jobNews;
    if (news.number === 0) return;
    const byKey = new Map(news.jobs.map((job) => [job.key, job]));
    setLoaded((before) => {
      if (before === undefined) return before;
      const chunks = new Map([...before.chunks].map(([chunk, jobs]) => [chunk, jobs.some(({ key }) => byKey.has(key)) ? jobs.map((job) => byKey.get(job.key) ?? job) : jobs]));
      return { ...before, chunks };
    });
    stale.current = true;
  });
  useEffect(() => {
    const timer = setInterval(() => {
      if (!stale.current || document.hidden) return;
      stale.current = false;
      for (let chunk = from; chunk <= to; chunk++) void load(chunk, true);
    }, REFRESH_MS);
    return () => clearInterval(timer);
  }, [from, to]);
  useEffect(() => {
    const element = scroller.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, [loaded === undefined]);

  if (problem !== undefined && loaded === undefined) return <Notice kind="bad" title="The Jobs could not be read" about={problem} />;
  if (loaded === undefined) return <Notice kind="wait" title="Looking for Jobs …" />;
  const rows = Array.from({ length: Math.max(0, Math.min(last, loaded.total) - first) }, (_, index) => first + index);
  return (
    <>
      <div class="found">
        <span role="status">
          <b>{loaded.total.toLocaleString('en')}</b> {loaded.total === 1 ? 'Job' : 'Jobs'}
        </span>
        <Export query={query} total={loaded.total} />
      </div>
      {loaded.groups !== undefined && <Groups query={query} groups={loaded.groups} total={loaded.total} />}
      <div class="table" role="table" aria-label="Jobs" aria-rowcount={loaded.total + 1}>
        <div class="row head" role="row">
          {COLUMNS.map(([name, label]) => (
            <Head key={label} name={name} label={label} query={query} change={change} />
          ))}
        </div>
        <div class="body" role="rowgroup" ref={scroller} tabIndex={0} aria-label="Jobs, scrolled" onScroll={(event) => setTop(event.currentTarget.scrollTop)} onKeyDown={moveAmongRows}>
          <div class="all" style={{ height: `${loaded.total * ROW_PX}px` }} role="presentation">
            {rows.map((row) => (
              <Row key={row} row={row} job={loaded.chunks.get(Math.floor(row / CHUNK))?.[row % CHUNK]} />
            ))}
          </div>
          {loaded.total === 0 && <Notice kind="none" title="No Job is like that" about="Take a filter off, or look for another part of the name." />}
        </div>
      </div>
    </>
  );
}

const COLUMNS = [
  ['name', 'Job'],
  ['state', 'State'],
  ['queue', 'Queue'],
  ['cluster', 'Cluster'],
  [undefined, 'Pods'],
  ['created', 'Age'],
  [undefined, 'Took'],
  [undefined, 'Why'],
] as const;

function Head({ name, label, query, change }: { readonly name: string | undefined; readonly label: string; readonly query: Query; readonly change: Change }) {
  const order = query['order'] ?? '-created';
  const sort = name === undefined ? undefined : order === name ? 'ascending' : order === `-${name}` ? 'descending' : 'none';
  return (
    <span class={`cell ${label.toLowerCase()}`} role="columnheader" aria-sort={sort}>
      {name === undefined ? (
        label
      ) : (
        <button type="button" onClick={() => change({ order: order === name ? `-${name}` : name })}>
          {label}
          <span aria-hidden="true">{sort === 'ascending' ? ' ↑' : sort === 'descending' ? ' ↓' : ''}</span>
        </button>
      )}
    </span>
  );
}

function Row({ row, job }: { readonly row: number; readonly job: JobLine | undefined }) {
  const at = { transform: `translateY(${row * ROW_PX}px)` };
  if (job === undefined) return <div class="row pending" role="row" aria-rowindex={row + 2} style={at} />;
  const ranMs = job.startedMs === undefined ? undefined : (job.endedMs ?? serverNow.value) - job.startedMs;
  const done = progressOf(job);
  return (
    <div class="row" role="row" aria-rowindex={row + 2} style={at}>
      <span class="cell job" role="cell">
        <a href={jobAt(job.key)} data-row={row}>
          <span class="soft">{namespaceOf(job.key)}/</span>
          {nameOf(job.key)}
        </a>
      </span>
      <span class="cell state" role="cell">
        <State state={job.state} />
      </span>
      <span class="cell queue" role="cell">
        {job.clusterQueue ?? job.queue ?? ''}
      </span>
      <span class="cell cluster" role="cell">
        {job.cluster ?? ''}
      </span>
      <span class="cell pods" role="cell">
        <span class="tiny" aria-hidden="true">
          <span style={{ transform: `scaleX(${done})` }} />
        </span>
        {job.succeeded}/{job.completions}
        {job.failed > 0 && <span class="red"> {job.failed}✕</span>}
      </span>
      <span class="cell age" role="cell">
        <Ago atMs={job.createdMs} after="" />
      </span>
      <span class="cell took" role="cell">
        {ranMs === undefined ? '' : duration(ranMs)}
      </span>
      <span class="cell why soft" role="cell" title={job.why}>
        {job.why === undefined ? (job.reason ?? '') : firstClause(job.why)}
      </span>
    </div>
  );
}

/** The arrows go from one Job to the next. */
function moveAmongRows(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  const row = (document.activeElement as HTMLElement | null)?.dataset['row'];
  if (step === undefined || row === undefined) return;
  event.preventDefault();
  document.querySelector<HTMLElement>(`[data-row="${Number(row) + step}"]`)?.focus();
}

function Groups({ query, groups, total }: { readonly query: Query; readonly groups: NonNullable<JobPage['groups']>; readonly total: number }) {
  const group = query['group'] ?? '';
  return (
    <ul class="groups" aria-label={`Jobs by ${group}`}>
      {groups.slice(0, 40).map(({ key, count }) => (
        <li key={key}>
          <a href={jobsAt({ ...query, group: undefined, [group]: key })} aria-disabled={key === ''}>
            <span class="share" style={{ transform: `scaleX(${count / Math.max(1, total)})` }} aria-hidden="true" />
            <span class="name">{key === '' ? 'none' : key}</span> <b>{count.toLocaleString('en')}</b>
          </a>
        </li>
      ))}
    </ul>
  );
}

const FIELDS = ['key', 'uid', 'state', 'reason', 'why', 'queue', 'clusterQueue', 'cluster', 'createdMs', 'admittedMs', 'startedMs', 'endedMs', 'completions', 'active', 'succeeded', 'failed'] as const;

function Export({ query, total }: { readonly query: Query; readonly total: number }) {
  const [isBusy, setBusy] = useState(false);
  const who = entry.value;
  const save = async (form: 'csv' | 'json'): Promise<void> => {
    if (who.kind !== 'Inside') return;
    setBusy(true);
    try {
      const jobs: JobLine[] = [];
      for (let offset = 0; offset < Math.min(total, EXPORT_MAX); offset += 500) jobs.push(...(await who.api.jobs({ ...query, offset: String(offset), limit: '500' })).jobs);
      const text = form === 'json' ? JSON.stringify(jobs, undefined, 2) : [FIELDS.join(','), ...jobs.map((job) => FIELDS.map((field) => csvField(job[field])).join(','))].join('\r\n');
      const url = URL.createObjectURL(new Blob([text], { type: form === 'json' ? 'application/json' : 'text/csv' }));
      const link = Object.assign(document.createElement('a'), { href: url, download: `jobs.${form}` });
      link.click();
      setTimeout(() => URL.revokeObjectURL(url), 10_000);
    } finally {
      setBusy(false);
    }
  };
  return (
    <span class="export">
      <button type="button" class="quiet" disabled={isBusy || total === 0} onClick={() => void save('csv')}>
        CSV
      </button>
      <button type="button" class="quiet" disabled={isBusy || total === 0} onClick={() => void save('json')}>
        JSON
      </button>
    </span>
  );
}
