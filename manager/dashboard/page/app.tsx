import { useSignalEffect } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { ClusterPage } from './cluster-page.tsx';
import { JobPageView } from './job-page.tsx';
import { Jobs } from './jobs.tsx';
import { Login } from './login.tsx';
import { Mark, Notice } from './parts.tsx';
import { QueuePage } from './queue-page.tsx';
import { connection, entry, lastHeard, leave, place, setTheme, theme, overview, type Theme } from './state.tsx';
import { totalsIn } from './overview-model.ts';
import { SubmissionsPage } from './submissions-page.tsx';
import { OverviewPage } from './overview.tsx';

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
    </div>
  );
}

function titleOf(): string {
  const { value: at } = place;
  return at.page === 'job' || at.page === 'queue' || at.page === 'cluster' ? at.name : at.page === 'jobs' ? 'Jobs' : at.page === 'submissions' ? 'Submissions' : 'Yard';
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
  const page = place.value.page;
  const states = (overview.value && totalsIn(overview.value)?.states) ?? {};
  const link = (href: string, label: string, isHere: boolean) => (
    <a href={href} aria-current={isHere ? 'page' : undefined}>
      {label}
    </a>
  );
  const figure = (number: number | undefined, word: string, state: string) =>
    number === undefined || number === 0 ? null : (
      <a class="figure" href={`#/jobs?state=${state}`}>
        <b>{number.toLocaleString('en')}</b> {word}
      </a>
    );
  return (
    <header class="top">
      <a class="brand" href="#/yard" aria-label="Switchyard: the yard">
        <Mark width={32} />
        <span>Switchyard</span>
      </a>
      <nav aria-label="Pages">
        {link('#/yard', 'Yard', page === 'yard' || page === 'queue' || page === 'cluster')}
        {link('#/jobs', 'Jobs', page === 'jobs' || page === 'job')}
        {link('#/submissions', 'Submissions', page === 'submissions')}
      </nav>
      <p class="figures" role="group" aria-label="Jobs by state">
        {figure(states.Waiting, 'waiting', 'Waiting')}
        {figure(states.Held, 'held', 'Held')}
        {figure((states.Running ?? 0) + (states.Dispatching ?? 0), 'running', 'Running,Dispatching')}
        {figure(states.Resting, 'stopping', 'Resting')}
        {figure(states.Failed, 'failed', 'Failed')}
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
        <button class="quiet who" type="button" title={`Signed in as ${who.viewer.name}. Sign out`} onClick={() => leave()}>
          {shortName(who.viewer.name)}
          <span class="hidden">: sign out</span>
        </button>
      )}
    </header>
  );
}

/** The last part of `system:serviceaccount:NAMESPACE:NAME`. */
const shortName = (name: string): string => name.slice(name.lastIndexOf(':') + 1);

function Pulse() {
  const { kind } = connection.value;
  const words = { Connecting: 'connecting', Live: 'live', Lost: 'not live', Refused: 'refused' } as const;
  return (
    <span class={`pulse ${kind.toLowerCase()}`} role="status">
      {words[kind]}
    </span>
  );
}

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

/** `/` goes to the filter, `y`, `j` and `s` to the pages. */
function useKeys(): void {
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      const target = event.target as HTMLElement;
      if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) return;
      if (event.key === 'y') location.hash = '#/yard';
      else if (event.key === 'j') location.hash = '#/jobs';
      else if (event.key === 's') location.hash = '#/submissions';
      else if (event.key === '/') {
        event.preventDefault();
        if (place.value.page !== 'jobs') location.hash = '#/jobs';
        setTimeout(() => document.querySelector<HTMLInputElement>('#filter-text')?.focus());
      }
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}
