import { useSignalEffect } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { JobLine, JobPage } from '../views.ts';
import { problemOf } from './api.ts';
import { allJobs, BulkActions } from './bulk-actions.tsx';
import { exported, type ExportForm } from './export.ts';
import { canBeHidden, chosenColumns, COLUMNS, toggled, type Column } from './columns.ts';
import { GroupBy, Groups } from './job-groups.tsx';
import { moveAmongRows } from './keys.tsx';
import { Ago, Bar, KeyName, Notice, progressOf, State } from './parts.tsx';
import { groupIn, jobAt, type Change, type Query } from './place.ts';
import { saveFile } from './save-file.tsx';
import { entry, jobNews, serverNow } from './state.tsx';
import { duration, firstClause } from './words.ts';

const ROW_PX = 34;
/** Where there is room for few columns, the reason stands below the name. */
const TALL_ROW_PX = 54;
const NARROW = '(max-width: 760px)';
const CHUNK = 100;
/** Chunks that are kept: those around what is seen. */
const CHUNKS_MAX = 12;
/** What has come in between is asked for as often as this. */
const REFRESH_MS = 2_500;
/** Whoever stays so long looks at what is there. */
const STILL_MS = 60;
const EXPORT_MAX = 100_000;

type Loaded = { readonly total: number; readonly chunks: ReadonlyMap<number, readonly JobLine[]>; readonly groups: JobPage['groups'] };

export function JobTable({ query, change }: { readonly query: Query; readonly change: Change }) {
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  const scroller = useRef<HTMLDivElement>(null);
  const rowPx = useRowPx();
  const [columns, toggleColumn] = useColumns();
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const who = entry.value;
  const mayAct = who.kind === 'Inside' && who.viewer.actions;
  const toggle = (key: string): void => {
    setChosen((before) => {
      const next = new Set(before);
      if (!next.delete(key)) next.add(key);
      return next;
    });
  };
  const first = Math.max(0, Math.floor(top / rowPx) - 8);
  const last = Math.ceil((top + height) / rowPx) + 8;
  const { loaded, problem } = useLoaded(query, first, last);
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
        {mayAct && <BulkActions query={query} total={loaded.total} chosen={chosen} clear={() => setChosen(new Set())} />}
        <label class="canaries">
          <input type="checkbox" checked={query['canaries'] !== undefined} onChange={({ currentTarget: { checked } }) => change({ canaries: checked ? '1' : undefined })} />{' '}
          canaries
        </label>
        <GroupBy query={query} change={change} />
        <ColumnChoice columns={columns} toggle={toggleColumn} />
        <Export query={query} total={loaded.total} />
      </div>
      {loaded.groups !== undefined && <Groups query={query} groups={loaded.groups} total={loaded.total} />}
      <div class={`table${mayAct ? ' with-choice' : ''}${loaded.total === 0 ? ' without-rows' : ''}`} role="table" aria-label="Jobs" aria-rowcount={loaded.total + 1} style={{ '--columns': columns.map(({ width }) => width).join(' ') }}>
        <div class="row head" role="row">
          {mayAct && (
            <span class="cell choice" role="columnheader">
              <span class="hidden">Chosen</span>
            </span>
          )}
          {columns.map((column) => (
            <Head key={column.id} column={column} query={query} change={change} />
          ))}
        </div>
        <div class="body" role="rowgroup" ref={scroller} tabIndex={0} aria-label="Jobs, scrolled" onScroll={(event) => setTop(Math.floor(event.currentTarget.scrollTop / rowPx) * rowPx)} onKeyDown={onArrow}>
          <div class="all" style={{ height: `${loaded.total * rowPx}px` }} role="presentation">
            {rows.map((row) => (
              <Row key={row} row={row} rowPx={rowPx} columns={columns} job={loaded.chunks.get(Math.floor(row / CHUNK))?.[row % CHUNK]} isChosen={mayAct ? (key) => chosen.has(key) : undefined} toggle={toggle} />
            ))}
          </div>
        </div>
      </div>
      {loaded.total === 0 && <Notice kind="none" title="No Job is like that" about="Take a filter off, or look for another part of the name." />}
    </>
  );
}

/** The Jobs around the rows that are seen, as they are now. */
function useLoaded(query: Query, first: number, last: number): { readonly loaded: Loaded | undefined; readonly problem: string | undefined } {
  const [loaded, setLoaded] = useState<Loaded | undefined>(undefined);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const asked = useRef(new Set<number>());
  const stale = useRef(false);
  const who = entry.value;

  const load = async (chunk: number, isAnew = false): Promise<void> => {
    if (who.kind !== 'Inside' || (asked.current.has(chunk) && !isAnew)) return;
    asked.current.add(chunk);
    try {
      const page = await who.api.jobs({ ...query, group: groupIn(query), offset: String(chunk * CHUNK), limit: String(CHUNK) });
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
      setProblem(problemOf(error).message);
    }
  };

  const from = Math.floor(first / CHUNK);
  const to = Math.floor(Math.min(last, Math.max(0, (loaded?.total ?? 1) - 1)) / CHUNK);
  useEffect(() => {
    const loadSeen = (): void => {
      for (let chunk = from; chunk <= to; chunk++) void load(chunk);
    };
    if (loaded === undefined) return loadSeen();
    // What is only flown over is not asked for.
    const timer = setTimeout(loadSeen, STILL_MS);
    return () => clearTimeout(timer);
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
  return { loaded, problem };
}

const COLUMNS_KEY = 'switchyard-columns';

/** The columns that are shown, as this browser keeps them, and what shows or hides one. */
function useColumns(): [readonly Column[], (id: string) => void] {
  const [columns, setColumns] = useState(() => chosenColumns(localStorage.getItem(COLUMNS_KEY)));
  const toggle = (id: string): void => {
    const text = toggled(columns, id);
    if (text === null) localStorage.removeItem(COLUMNS_KEY);
    else localStorage.setItem(COLUMNS_KEY, text);
    setColumns(chosenColumns(text));
  };
  return [columns, toggle];
}

function ColumnChoice({ columns, toggle }: { readonly columns: readonly Column[]; readonly toggle: (id: string) => void }) {
  return (
    <details class="menu">
      <summary>Columns</summary>
      <fieldset>
        <legend class="hidden">Columns</legend>
        {COLUMNS.filter(canBeHidden).map(({ id, label }) => (
          <label key={id}>
            <input type="checkbox" checked={columns.some((column) => column.id === id)} onChange={() => toggle(id)} /> {label}
          </label>
        ))}
      </fieldset>
    </details>
  );
}

function Head({ column: { id, label, order: name }, query, change }: { readonly column: Column; readonly query: Query; readonly change: Change }) {
  const order = query['order'] ?? '-created';
  const sort = name === undefined ? undefined : order === name ? 'ascending' : order === `-${name}` ? 'descending' : 'none';
  return (
    <span class={`cell ${id}`} role="columnheader" aria-sort={sort}>
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

type RowProps = {
  readonly row: number;
  readonly rowPx: number;
  readonly columns: readonly Column[];
  readonly job: JobLine | undefined;
  /** Absent where nothing can be done with it. */
  readonly isChosen: ((key: string) => boolean) | undefined;
  readonly toggle: (key: string) => void;
};

function Row({ row, rowPx, columns, job, isChosen, toggle }: RowProps) {
  const at = { transform: `translateY(${row * rowPx}px)` };
  if (job === undefined) return <div class="row pending" role="row" aria-rowindex={row + 2} style={at} />;
  return (
    <div class="row" role="row" aria-rowindex={row + 2} style={at}>
      {isChosen !== undefined && (
        <span class="cell choice" role="cell">
          <input type="checkbox" checked={isChosen(job.key)} aria-label={`Choose ${job.key}`} onChange={() => toggle(job.key)} />
        </span>
      )}
      {columns.map(({ id }) => (
        <span key={id} class={`cell ${id}${id === 'why' ? ' soft' : ''}`} role="cell" data-tip={id === 'why' ? job.why : undefined}>
          <Value of={id} job={job} row={row} />
        </span>
      ))}
      <span class="cell brief soft" aria-hidden="true">
        {job.why === undefined ? inBrief(job) : firstClause(job.why)}
      </span>
    </div>
  );
}

/** What a column says of a Job. */
function Value({ of, job, row }: { readonly of: string; readonly job: JobLine; readonly row: number }) {
  const { startedMs, endedMs, why, succeeded, completions, failed } = job;
  switch (of) {
    case 'job':
      return (
        <a href={jobAt(job.key)} data-row={row} aria-description={why}>
          <KeyName of={job.key} kind={job.kind} />
        </a>
      );
    case 'state':
      return <State state={job.state} />;
    case 'queue':
      return <>{job.queue ?? job.clusterQueue ?? ''}</>;
    case 'clusterqueue':
      return <>{job.clusterQueue ?? ''}</>;
    case 'cluster':
      return <>{job.cluster ?? ''}</>;
    case 'user':
      return <>{job.user ?? ''}</>;
    case 'pods':
      return (
        <>
          {completions > 1 && <Bar share={progressOf(job)} />}
          {succeeded}/{completions}
          {failed > 0 && <span class="red"> {failed}✕</span>}
        </>
      );
    case 'age':
      return <Ago atMs={job.createdMs} after="" />;
    case 'took':
      return <>{startedMs === undefined ? '' : duration((endedMs ?? serverNow.value) - startedMs)}</>;
    case 'ended':
      return <Ago atMs={endedMs} />;
    default:
      return <>{why === undefined ? (job.cause ?? job.reason ?? '') : firstClause(why)}</>;
  }
}

/** On narrow screens, of a Job with nothing in its way: where it is, and how far. */
const inBrief = ({ queue, cluster, succeeded, completions, cause }: JobLine): string =>
  [cause, queue, cluster, completions > 1 ? `${succeeded}/${completions}` : undefined].filter((part) => part !== undefined).join(' · ');

/** How high a row is on this screen. */
function useRowPx(): number {
  const [isNarrow, setNarrow] = useState(() => matchMedia(NARROW).matches);
  useEffect(() => {
    const media = matchMedia(NARROW);
    const onChange = (): void => setNarrow(media.matches);
    media.addEventListener('change', onChange);
    return () => media.removeEventListener('change', onChange);
  }, []);
  return isNarrow ? TALL_ROW_PX : ROW_PX;
}

/** The arrows go from one Job to the next. */
function onArrow(event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined || (event.target as HTMLElement).dataset['row'] === undefined) return;
  event.preventDefault();
  moveAmongRows(step);
}

function Export({ query, total }: { readonly query: Query; readonly total: number }) {
  const [isBusy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const who = entry.value;
  const save = async (form: ExportForm): Promise<void> => {
    if (who.kind !== 'Inside') return;
    setBusy(true);
    try {
      saveFile(`jobs.${form}`, form === 'json' ? 'application/json' : 'text/csv', exported(await allJobs(who.api, query, EXPORT_MAX), form));
      setProblem(undefined);
    } catch (error) {
      setProblem(problemOf(error).message);
    } finally {
      setBusy(false);
    }
  };
  return (
    <span class="export">
      {problem !== undefined && (
        <span class="red" role="alert">
          not saved: {problem}
        </span>
      )}
      {isBusy && <span class="soft">reading {total.toLocaleString('en')} …</span>}
      <button type="button" class="quiet" disabled={isBusy || total === 0} onClick={() => void save('csv')}>
        CSV
      </button>
      <button type="button" class="quiet" disabled={isBusy || total === 0} onClick={() => void save('json')}>
        JSON
      </button>
    </span>
  );
}
