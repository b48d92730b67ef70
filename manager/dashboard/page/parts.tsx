/** Small parts of which the pages are made. */
import type { ComponentChildren } from 'preact';
import type { CauseCount, Fill, Health, JobLine, QuotaFill } from '../views.ts';
import { Glyph } from './glyph.tsx';
import { jobAt, jobsAt } from './place.ts';
import { serverNow } from './state.tsx';
import { age, behindNamespace, nameOf, namespaceOf, quantity } from './words.ts';

/** With `isPage` it is all that the page shows. */
export function Notice({ kind, title, about, isPage = false, children }: { readonly kind: 'wait' | 'none' | 'bad'; readonly title: string; readonly about?: string | undefined; readonly isPage?: boolean; readonly children?: ComponentChildren }) {
  return (
    <div class={`notice ${kind}`} role={kind === 'bad' ? 'alert' : 'status'}>
      {isPage ? <h1 class="title">{title}</h1> : <p class="title">{title}</p>}
      {about !== undefined && <p>{about}</p>}
      {children}
    </div>
  );
}

const STATE_WORDS: Readonly<Record<JobLine['state'], string>> = {
  Waiting: 'waiting',
  NeverFits: 'can never run',
  Held: 'held',
  Dispatching: 'on its way',
  Running: 'running',
  Resting: 'stopping',
  Complete: 'complete',
  Failed: 'failed',
};
export const stateWord = (state: JobLine['state']): string => STATE_WORDS[state];

export function State({ state }: { readonly state: JobLine['state'] }) {
  return (
    <span class={`state ${state.toLowerCase()}`}>
      <Glyph of={state} /> {STATE_WORDS[state]}
    </span>
  );
}

export function HealthDot({ health, label }: { readonly health: Health; readonly label: string }) {
  return (
    <span class={`dot ${health.toLowerCase()}`} role="img" aria-label={label} data-tip={label}>
      <Glyph of={health} />
    </span>
  );
}

/** How much of it is done, as far as that can be told. */
export const progressOf = ({ succeeded, completions, state }: JobLine): number =>
  state === 'Complete' ? 1 : completions > 0 ? Math.min(1, succeeded / completions) : 0;

/** A Job as a wagon. */
function Wagon({ job, showAge }: { readonly job: JobLine; readonly showAge: boolean }) {
  const since = job.endedMs ?? job.startedMs ?? job.admittedMs ?? job.createdMs;
  const done = progressOf(job);
  return (
    <a
      class={`wagon ${job.state.toLowerCase()}`}
      href={jobAt(job.key)}
      data-job={job.key}
      data-tip={`${job.kind === undefined ? '' : `${job.kind} `}${namespaceOf(job.key)}/${nameOf(job.key)}: ${STATE_WORDS[job.state]}${job.why === undefined ? '' : `. ${job.why}`}`}
    >
      {done > 0 && done < 1 && <Bar share={done} />}
      <Glyph of={job.state} />
      <span class="hidden">{STATE_WORDS[job.state]}: </span>
      <span class="name">{nameOf(job.key)}</span>
      {job.kind !== undefined && <span class="part">{job.kind}</span>}
      {job.completions > 1 && job.cause === undefined && (
        <span class="part">
          {job.succeeded}/{job.completions}
        </span>
      )}
      {showAge && <span class="part age">{age(serverNow.value - since)}</span>}
    </a>
  );
}

type JobChipsProps = { readonly jobs: readonly JobLine[]; readonly empty?: string; readonly isSiding?: boolean; readonly showAge?: boolean; readonly children?: ComponentChildren };
/** Jobs as wagons, one behind the other. `empty`: what is said where there is none. */
export function JobChips({ jobs, empty, isSiding = false, showAge = true, children }: JobChipsProps) {
  return (
    <div class={isSiding ? 'wagons siding' : 'wagons'}>
      {jobs.map((job) => (
        <Wagon key={`${job.key} ${job.uid}`} job={job} showAge={showAge} />
      ))}
      {jobs.length === 0 && empty !== undefined && <p class="empty">{empty}</p>}
      {children}
    </div>
  );
}

/** `NAMESPACE/NAME`, of which the name is meant; of another kind than Job with the kind, or the resource where that is not known. */
export function KeyName({ of, kind }: { readonly of: string; readonly kind?: string | undefined }) {
  const rest = behindNamespace(of);
  const resource = rest.includes('/') ? rest.slice(0, rest.indexOf('/')) : undefined;
  return (
    <>
      <span class="soft">{namespaceOf(of)}/</span>
      {nameOf(of)}
      {resource !== undefined && <span class="soft"> {kind ?? resource}</span>}
    </>
  );
}

/** What is known of something, name by name. */
export function Facts({ rows }: { readonly rows: readonly { readonly name: string; readonly value: ComponentChildren }[] }) {
  return (
    <dl>
      {rows.map(({ name, value }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The mark of the yard: a track that parts. */
export function Mark({ width }: { readonly width: number }) {
  return (
    <svg viewBox="0 0 32 20" width={width} height={width * 0.625} aria-hidden="true">
      <path d="M2 10h28" class="rail" />
      <path d="M4 10c7 0 7-7 14-7h12" class="rail upper" />
      <path d="M4 10c7 0 7 7 14 7h12" class="rail lower" />
    </svg>
  );
}

/** The form of all progress and use: a thin bar. `borrowed` goes beyond the end of what is its own. */
export function Bar({ share, borrowed = 0, label }: { readonly share: number; readonly borrowed?: number; readonly label?: string }) {
  const whole = Math.max(1, share);
  const own = Math.max(0, share - borrowed);
  return (
    <span class="bar" {...(label === undefined ? { 'aria-hidden': true } : { role: 'img', 'aria-label': label })}>
      <span class="own" style={{ width: `${(own / whole) * 100}%` }} />
      {borrowed > 0 && <span class="borrowed" style={{ left: `${(own / whole) * 100}%`, width: `${(borrowed / whole) * 100}%` }} />}
      {whole > 1 && <span class="mark" style={{ left: `${100 / whole}%` }} />}
    </span>
  );
}

/** What Jobs wait for, each with its number, as links to them. `query`: where these Jobs are. */
export function Causes({ causes, query }: { readonly causes: readonly CauseCount[]; readonly query: Readonly<Record<string, string | undefined>> }) {
  if (causes.length === 0) return null;
  return (
    <ul class="causes" aria-label="What they wait for">
      {causes.map(({ cause, count: number }) => (
        <li key={cause}>
          <a href={jobsAt({ ...query, state: QUEUED, cause })}>
            <b>{number.toLocaleString('en')}</b> {cause}
          </a>
        </li>
      ))}
    </ul>
  );
}
/** States of Jobs that wait, in an address. */
export const QUEUED = 'Waiting,NeverFits,Held';
/** States of Jobs that hold quota, in an address. */
export const ADMITTED = 'Running,Dispatching,Resting';

/** A thin bar with what it stands for in words beside it. */
export function Meter({ fill, label }: { readonly fill: Fill | QuotaFill; readonly label: string }) {
  const share = fill.share ?? 0;
  const borrowed = 'borrowedShare' in fill ? (fill.borrowedShare ?? 0) : 0;
  const words = `${quantity(fill.used)} of ${fill.share === undefined ? 'any amount' : quantity(fill.of)}`;
  return (
    <div class={`meter${share >= 0.995 ? ' full' : ''}`}>
      <span class="label">{label}</span>
      <Bar share={share} borrowed={borrowed} label={`${label}: ${words}${borrowed > 0 && 'borrowed' in fill ? `, ${quantity(fill.borrowed ?? '')} of it borrowed` : ''}`} />
      <span class="amount">
        {quantity(fill.used)}
        <span class="of"> / {fill.share === undefined ? '∞' : quantity(fill.of)}</span>
      </span>
    </div>
  );
}

export function Ago({ atMs, after = ' ago' }: { readonly atMs: number | undefined; readonly after?: string }) {
  if (atMs === undefined) return null;
  return (
    <time dateTime={new Date(atMs).toISOString()} title={new Date(atMs).toLocaleString()}>
      {age(serverNow.value - atMs)}
      {after}
    </time>
  );
}

/** Where a page stands, each part a link. */
export function Crumbs({ parts }: { readonly parts: readonly { readonly href: string; readonly label: string }[] }) {
  return (
    <nav class="crumbs" aria-label="Breadcrumbs">
      {parts.map(({ href, label }) => (
        <span key={href}>
          <a href={href}>{label}</a> /{' '}
        </span>
      ))}
    </nav>
  );
}
