import { useSignalEffect } from '@preact/signals';
import { ClusterPage } from './cluster-page.tsx';
import { ClustersPage } from './clusters-page.tsx';
import { Glyph } from './glyph.tsx';
import { JobPageView } from './job-page.tsx';
import { Jobs } from './jobs.tsx';
import { KeysHelp, useKeys } from './keys.tsx';
import { Login } from './login.tsx';
import { Mark, Notice } from './parts.tsx';
import { Palette } from './palette.tsx';
import { PAGES } from './palette-entries.ts';
import { QueuePage } from './queue-page.tsx';
import { QueuesPage } from './queues-page.tsx';
import { connection, entry, heardMs, lastHeard, now, overlay, place, setTheme, signOut, theme, overview, type Theme } from './state.tsx';
import { age } from './words.ts';
import type { JobLine } from '../views.ts';
import { totalsIn } from './overview-model.ts';
import { SubmissionsPage } from './submissions-page.tsx';
import { OverviewPage } from './overview.tsx';
import { Tooltip } from './tooltip.tsx';
import { UsagePage } from './usage-page.tsx';

export function App() {
  useSignalEffect(() => {
    const chosen = theme.value;
    if (chosen === 'auto') document.documentElement.removeAttribute('data-theme');
    else document.documentElement.dataset['theme'] = chosen;
  });
  useSignalEffect(() => {
    const waiting = overview.value === undefined ? undefined : totalsIn(overview.value)?.states.Waiting;
    document.title = `${titleOf()}${waiting === undefined || waiting === 0 ? '' : ` · ${waiting} waiting`} · Switchyard`;
  });
  useKeys();
  const { value: who } = entry;
  if (who.kind === 'Asking') return <Notice kind="wait" isPage title="Asking the manager who you are …" />;
  if (who.kind === 'Outside') return <Login why={who.why} />;
  return (
    <div class="shell">
      <a class="skip" href="#content" onClick={(event) => (event.preventDefault(), document.getElementById('content')?.focus())}>
        Skip to content
      </a>
      <Header />
      <LostConnection />
      <main id="content" tabIndex={-1}>
        {overview.value === undefined ? <Notice kind="wait" isPage title="Looking at the yard …" /> : <Page />}
      </main>
      {overlay.value === 'Palette' && <Palette />}
      {overlay.value === 'Keys' && <KeysHelp />}
      <Tooltip />
    </div>
  );
}

function titleOf(): string {
  const { value: at } = place;
  return at.page === 'job' || at.page === 'queue' || at.page === 'cluster' ? at.name : (PAGES.find(({ href }) => href === `#/${at.page}`)?.name ?? 'Yard');
}

function Page() {
  const { value: at } = place;
  switch (at.page) {
    case 'yard':
      return <OverviewPage hours={at.hours} at={at.at} />;
    case 'jobs':
      return <Jobs query={at.query} />;
    case 'job':
      return <JobPageView key={`${at.namespace}/${at.name}`} namespace={at.namespace} name={at.name} />;
    case 'queues':
      return <QueuesPage cohort={at.cohort} />;
    case 'clusters':
      return <ClustersPage />;
    case 'usage':
      return <UsagePage by={at.by} days={at.days} />;
    case 'queue':
      return <QueuePage name={at.name} />;
    case 'cluster':
      return <ClusterPage name={at.name} />;
    case 'submissions':
      return <SubmissionsPage />;
    case 'lost':
      return <Notice kind="none" isPage title="There is no such page" about={at.path} />;
  }
}

function Header() {
  const { value: who } = entry;
  const { page } = place.value;
  const states = (overview.value && totalsIn(overview.value)?.states) ?? {};
  return (
    <header class="top">
      <a class="brand" href="#/yard" aria-label="Switchyard: the yard">
        <Mark width={32} />
        <span>Switchyard</span>
      </a>
      <nav aria-label="Pages">
        {PAGES.map(({ name, href }) => (
          <a key={href} href={href} aria-current={href === `#/${PARENTS[page] ?? page}` ? 'page' : undefined}>
            {name}
          </a>
        ))}
      </nav>
      <button class="quiet find" type="button" aria-keyshortcuts="Control+K Meta+K" onClick={() => (overlay.value = 'Palette')}>
        Find <kbd aria-hidden="true">Ctrl K</kbd>
      </button>
      <p class="figures" role="group" aria-label="Jobs by state">
        <Figure number={states.Waiting} word="waiting" state="Waiting" />
        <Figure number={states.NeverFits} word="can never run" state="NeverFits" />
        <Figure number={states.Held} word="held" state="Held" />
        <Figure number={(states.Running ?? 0) + (states.Dispatching ?? 0)} word="running" state="Running" also=",Dispatching" />
        <Figure number={states.Resting} word="stopping" state="Resting" />
        <Figure number={states.Failed} word="failed" state="Failed" />
      </p>
      <Pulse />
      <label class="theme">
        <span class="hidden">Colours</span>
        <select value={theme.value} onChange={(event) => setTheme(event.currentTarget.value as Theme)}>
          <option value="auto">Auto</option>
          <option value="light">Light</option>
          <option value="dark">Dark</option>
        </select>
      </label>
      {who.kind === 'Inside' && (
        <button class="quiet who" type="button" title={`Signed in as ${who.viewer.name}. Sign out`} onClick={() => void signOut()}>
          {shortName(who.viewer.name)}
          <span class="hidden">: sign out</span>
        </button>
      )}
    </header>
  );
}

/** The page of the navigation that a page belongs to. */
const PARENTS: Readonly<Record<string, string>> = { job: 'jobs', queue: 'queues', cluster: 'clusters' };

type FigureProps = { readonly number: number | undefined; readonly word: string; readonly state: JobLine['state']; readonly also?: string };

/** A number of Jobs that leads to them. */
function Figure({ number, word, state, also = '' }: FigureProps) {
  if (number === undefined || number === 0) return null;
  return (
    <a class={`figure state ${state.toLowerCase()}`} href={`#/jobs?state=${state}${also}`} data-tip={`${number.toLocaleString('en')} ${word}`}>
      <Glyph of={state} />
      <b>{number.toLocaleString('en')}</b> <span class="word">{word}</span>
    </a>
  );
}

/** The last part of `system:serviceaccount:NAMESPACE:NAME`. */
const shortName = (name: string): string => name.slice(name.lastIndexOf(':') + 1);

function Pulse() {
  const { kind } = connection.value;
  const words = { Connecting: 'connecting', Live: 'live', Lost: 'not live', Refused: 'refused' } as const;
  const silentMs = now.value - heardMs.value;
  const isLive = kind === 'Live';
  return (
    <span class={`pulse ${isLive && silentMs > SILENT_MS ? 'silent' : kind.toLowerCase()}`}>
      <span role="status" class={isLive ? 'hidden' : ''}>
        {words[kind]}
      </span>
      {isLive && <span aria-hidden="true">updated {age(silentMs)} ago</span>}
    </span>
  );
}

/** The server gives a sign of life every 15 seconds. */
const SILENT_MS = 20_000;

function LostConnection() {
  const { value: state } = connection;
  if (state.kind !== 'Lost' || overview.value === undefined) return null;
  const at = new Date(lastHeard.value.hereMs).toLocaleTimeString('en', { hour12: false });
  return (
    <div class="banner" role="alert">
      The connection to the manager is lost ({state.why}). You see the yard as it was at {at}; it is tried again.
    </div>
  );
}
