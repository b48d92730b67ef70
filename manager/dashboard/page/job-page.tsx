import { useSignalEffect } from '@preact/signals';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { JobAction, JobView, Stage, WithActions } from '../views.ts';
import { problemOf, type ApiProblem } from './api.ts';
import { useAsked } from './asked.tsx';
import { JobActions } from './bulk-actions.tsx';
import { Command } from './command.tsx';
import { ConditionTable } from './conditions.tsx';
import { WhyItFailed } from './failure.tsx';
import { ExplanationView, type ShownExplanation } from './explanation.tsx';
import { Ago, Crumbs, Facts, Notice, State } from './parts.tsx';
import { EndedPods, LivePodsOf } from './pods.tsx';
import { clusterAt, jobAt, jobsAt, queueAt } from './place.ts';
import { entry, jobNews, place, serverNow } from './state.tsx';
import { behindNamespace, count, duration, moment, nameOf, namespaceOf, quantity } from './words.ts';

const REFRESH_MS = 1_000;

/** The story of one Job. */
export function JobPageView({ namespace, name }: { readonly namespace: string; readonly name: string }) {
  const [view, setView] = useState<WithActions<JobView, JobAction> | undefined>(undefined);
  const [problem, setProblem] = useState<ApiProblem | undefined>(undefined);
  const busy = useRef(false);
  const again = useRef(false);
  const key = `${namespace}/${name}`;
  const who = entry.value;

  const load = async (): Promise<void> => {
    if (who.kind !== 'Inside') return;
    if (busy.current) {
      again.current = true;
      return;
    }
    busy.current = true;
    try {
      setView(await who.api.job(namespace, name));
      setProblem(undefined);
    } catch (error) {
      setProblem(problemOf(error));
    }
    setTimeout(() => {
      busy.current = false;
      if (again.current) void load();
      again.current = false;
    }, REFRESH_MS);
  };
  useEffect(() => void load(), [key]);
  useSignalEffect(() => {
    const { value: news } = jobNews;
    if (news.isAll || news.gone.includes(key) || news.jobs.some((job) => job.key === key)) void load();
  });

  if (view === undefined && problem !== undefined)
    return problem.status === 403 ? (
      <Notice isPage kind="none" title="You may not see this Job" about={problem.message} />
    ) : problem.reason === 'NotManaged' ? (
      <Notice isPage kind="none" title={`Switchyard does not run ${key}`} about={problem.message} />
    ) : problem.status === 404 ? (
      <Notice isPage kind="none" title={`There is no ${name.includes('/') ? 'object' : 'Job'} ${key}`} about="It may have been deleted, and nothing is kept of it." />
    ) : (
      <Notice isPage kind="bad" title="The Job could not be read" about={problem.message} />
    );
  if (view === undefined) return <Notice isPage kind="wait" title={`Looking at ${key} …`} />;
  return <Story view={view} />;
}

const TABS = { story: 'Story', pods: 'Pods', events: 'Events', conditions: 'Conditions', yaml: 'YAML' } as const;

function Story({ view }: { readonly view: WithActions<JobView, JobAction> }) {
  const { may, line, stages, fromHistory } = view;
  const at = place.value;
  const tab = at.page === 'job' && at.tab !== '' ? at.tab : 'story';
  const namespace = namespaceOf(line.key);
  const waits = line.cause !== undefined || line.state === 'Resting';
  return (
    <article class="job-page">
      <Crumbs parts={[{ href: '#/jobs', label: 'Jobs' }, { href: jobsAt({ namespace }), label: namespace }]} />
      <header>
        <h1>{nameOf(line.key)}</h1>
        {line.kind !== undefined && <span class="soft">{line.kind}</span>}
        <State state={line.state} />
        {line.cluster !== undefined && !waits && (
          <span class="soft">
            on <a href={clusterAt(line.cluster)}>{line.cluster}</a>
          </span>
        )}
        {fromHistory ? <span class="soft">it is gone; this is what was kept of it</span> : <JobActions job={line} may={may} />}
      </header>
      <Way stages={stages} />
      <nav class="tabs" aria-label="Parts of the Job">
        {Object.entries(TABS).map(([each, word]) => (
          <a key={each} href={jobAt(line.key, each)} aria-current={tab === each ? 'page' : undefined}>
            {each === 'pods' && view.pods.length > 0 ? `${word} ${view.pods.length}` : word}
          </a>
        ))}
      </nav>
      {tab === 'story' && (
        <div class="columns">
          <Course view={view} waits={waits} />
          <Aside view={view} />
        </div>
      )}
      {tab === 'pods' && (
        <>
          <LivePodsOf line={line} />
          <EndedPods view={view} short={false} />
        </>
      )}
      {tab === 'events' && <Events job={line.key} version={line} />}
      {tab === 'conditions' && <Conditions view={view} />}
      {tab === 'yaml' && <Yaml namespace={namespace} name={behindNamespace(line.key)} />}
    </article>
  );
}

/** Why it waits or failed, where it was, and its pods. */
function Course({ view, waits }: { readonly view: JobView; readonly waits: boolean }) {
  const { line, fromHistory } = view;
  return (
    <div class="main-column">
      {waits && !fromHistory && <Explained job={line.key} isNever={line.state === 'NeverFits'} version={JSON.stringify(line)} />}
      {line.state === 'Failed' && <WhyItFailed view={view} />}
      {line.why !== undefined && !waits && line.state !== 'Failed' && (
        <section class="card">
          <h2>What stands in its way</h2>
          <p class="said">
            {line.reason !== undefined && <b>{line.reason}. </b>}
            {line.why}
          </p>
        </section>
      )}
      {view.placements.some(({ untilMs }) => untilMs !== undefined) && view.placements.length > (waits ? 0 : 1) && <Placements view={view} />}
      {view.indexes !== undefined && <Indexes runs={view.indexes} />}
      <LivePodsOf line={line} />
      <EndedPods view={view} short />
    </div>
  );
}

function Aside({ view: { facts, requests, trace, avoided, commands } }: { readonly view: JobView }) {
  return (
    <aside>
      <section class="card">
        <h2>Facts</h2>
        <Facts
          rows={[
            ...facts.map(({ name: fact, value }) => ({
              name: fact,
              value: fact === 'ClusterQueue' ? <a href={queueAt(value)}>{value}</a> : fact === 'Cluster' ? <a href={clusterAt(value)}>{value}</a> : value,
            })),
            ...(trace === undefined ? [] : [{ name: 'Trace', value: <Trace trace={trace} /> }]),
            ...Object.entries(requests).map(([resource, amount]) => ({ name: `Holds ${resource}`, value: quantity(amount) })),
          ]}
        />
      </section>
      {avoided.length > 0 && (
        <section class="card">
          <h2>Avoided for now</h2>
          {avoided.map(({ cluster, reason, untilMs }) => (
            <p key={cluster}>
              <b>{cluster}</b> {reason}
              {untilMs !== undefined && untilMs > serverNow.value && <span class="soft">, for {duration(untilMs - serverNow.value)} more</span>}
            </p>
          ))}
        </section>
      )}
      <section class="card">
        <h2>On the command line</h2>
        {commands.map(({ does, line: command }) => (
          <Command key={does} does={does} line={command} />
        ))}
      </section>
    </aside>
  );
}

function Trace({ trace: { id, url } }: { readonly trace: NonNullable<JobView['trace']> }) {
  return url === undefined ? (
    <>{id}</>
  ) : (
    <a href={url} rel="noopener noreferrer" target="_blank">
      {id}
    </a>
  );
}

/** Where it has been: each admission, and how long it lasted. */
function Placements({ view: { placements } }: { readonly view: JobView }) {
  return (
    <section class="card">
      <h2>Placements</h2>
      <table class="rows">
        <thead>
          <tr>
            <th>Cluster</th>
            <th>Admitted</th>
            <th class="num">For</th>
            <th>Until</th>
          </tr>
        </thead>
        <tbody>
          {placements.map(({ cluster, fromMs, untilMs }) => (
            <tr key={fromMs}>
              <td>{cluster === undefined ? <span class="soft">not known</span> : <a href={clusterAt(cluster)}>{cluster}</a>}</td>
              <td data-label="Admitted">{moment(fromMs, serverNow.value)}</td>
              <td class="num" data-label="For">
                {duration((untilMs ?? serverNow.value) - fromMs)}
              </td>
              <td data-label="Until">{untilMs === undefined ? 'now' : moment(untilMs, serverNow.value)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** How far it has come. */
function Way({ stages }: { readonly stages: readonly Stage[] }) {
  return (
    <ol class="way" aria-label="How far it has come">
      {stages.map(({ name, atMs, state, about }, index) => {
        const before = stages.slice(0, index).findLast((each) => each.atMs !== undefined)?.atMs;
        return (
          <li key={name} class={state.toLowerCase()} aria-current={state === 'Now' ? 'step' : undefined}>
            <span class="stop" aria-hidden="true" />
            <span class="name">{state === 'Now' ? NOW_WORDS[name] ?? name : name}</span>
            {atMs !== undefined && (
              <span class="when">
                {index === 0 || before === undefined ? <Ago atMs={atMs} /> : <span title={new Date(atMs).toLocaleString()}>{atMs - before < 500 ? 'at once' : `after ${duration(atMs - before)}`}</span>}
              </span>
            )}
            {state === 'Now' && before !== undefined && <span class="when">for {duration(serverNow.value - before)}</span>}
            {about !== undefined && about !== '' && (
              <span class="about" title={about}>
                {about}
              </span>
            )}
          </li>
        );
      })}
    </ol>
  );
}
const NOW_WORDS: Readonly<Record<string, string>> = { Admitted: 'Waits for admission', Dispatched: 'On its way', Started: 'Waits for a pod' };

function Explained({ job, isNever, version }: { readonly job: string; readonly isNever: boolean; readonly version: string }) {
  const [namespace, name] = [namespaceOf(job), behindNamespace(job)];
  // What it waits for changes with everybody else; asking costs the manager something, so not at every change.
  const [beat, setBeat] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => !document.hidden && setBeat((each) => each + 1), 10_000);
    return () => clearInterval(timer);
  }, []);
  const { value: told, problem } = useAsked((api) => api.explanation(namespace, name), job, `${beat} ${version}`);
  if (told !== undefined) return <ExplanationView told={told as ShownExplanation} isNever={isNever} />;
  return problem === undefined ? <Notice kind="wait" title="Trying what would make it run …" /> : <Notice kind="bad" title="It could not be explained" about={problem.message} />;
}

const KIND_WORDS = { Succeeded: 'succeeded', Failed: 'failed', Active: 'active', Ahead: 'not started' } as const;
const CELLS_MAX = 2_000;

/** One square for each index; of very many one for several. */
function Indexes({ runs }: { readonly runs: NonNullable<JobView['indexes']> }) {
  const all = runs.reduce((sum, run) => sum + run.count, 0);
  const each = Math.ceil(all / CELLS_MAX);
  const cells: { kind: keyof typeof KIND_WORDS; from: number }[] = [];
  let at = 0;
  for (const run of runs) {
    for (let index = 0; index < run.count; index += each) cells.push({ kind: run.kind, from: at + index });
    at += run.count;
  }
  const sums = Object.entries(Object.groupBy(runs, ({ kind }) => kind)).map(([kind, own]) => [kind, own.reduce((sum, run) => sum + run.count, 0)] as const);
  return (
    <section class="card">
      <h2>
        Indexes <span class="soft">{sums.map(([kind, number]) => `${number} ${KIND_WORDS[kind as keyof typeof KIND_WORDS]}`).join(', ')}</span>
      </h2>
      <div class="cells" role="img" aria-label={`${count(all, 'index', 'indexes')}: ${sums.map(([kind, number]) => `${number} ${KIND_WORDS[kind as keyof typeof KIND_WORDS]}`).join(', ')}`}>
        {cells.map(({ kind, from }) => (
          <i key={from} class={kind.toLowerCase()} title={`${from}: ${KIND_WORDS[kind]}`} />
        ))}
      </div>
      {each > 1 && <p class="soft">One square stands for up to {each} indexes.</p>}
    </section>
  );
}

/** What Events say, read anew when the Job changes. */
function Events({ job, version }: { readonly job: string; readonly version: JobView['line'] }) {
  const [namespace, name] = [namespaceOf(job), behindNamespace(job)];
  const { value, problem } = useAsked((api) => api.events(namespace, name), job, version);
  if (value === undefined && problem !== undefined) return <Notice kind="none" title="Its Events are not shown" about={problem.message} />;
  if (value === undefined) return <Notice kind="wait" title="Reading them …" />;
  if (value.events.length === 0) return <Notice kind="none" title="There are no Events about it" about="Kubernetes keeps them for an hour, as a rule." />;
  return (
    <section class="card">
      <table>
        <thead>
          <tr>
            <th>When</th>
            <th>Reason</th>
            <th>From</th>
            <th>Message</th>
          </tr>
        </thead>
        <tbody>
          {value.events.map(({ isWarning, reason, message, from, atMs, count: times }, position) => (
            <tr key={`${atMs} ${reason} ${position}`}>
              <td>
                <Ago atMs={atMs} />
                {times > 1 && <span class="soft"> ×{times.toLocaleString('en')}</span>}
              </td>
              <td class={isWarning ? 'red' : ''}>{reason}</td>
              <td class="soft">{from}</td>
              <td class="wide">{message}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Conditions({ view }: { readonly view: JobView }) {
  if (view.conditions.length === 0) return <Notice kind="none" title="It has no conditions" />;
  return (
    <section class="card">
      <ConditionTable conditions={view.conditions} />
    </section>
  );
}

function Yaml({ namespace, name }: { readonly namespace: string; readonly name: string }) {
  const { value: text, problem } = useAsked((api) => api.yaml(namespace, name), `${namespace}/${name}`, undefined);
  if (problem !== undefined) return <Notice kind="none" title="The YAML is not shown" about={problem.message} />;
  if (text === undefined) return <Notice kind="wait" title="Reading it …" />;
  return (
    <section class="card">
      <pre class="yaml" tabIndex={0}>
        {text}
      </pre>
    </section>
  );
}
