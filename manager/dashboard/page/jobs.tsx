import { useEffect, useRef, useState } from 'preact/hooks';
import type { JobLine } from '../views.ts';
import { JobTable } from './job-table.tsx';
import { Glyph } from './glyph.tsx';
import { stateWord } from './parts.tsx';
import { jobsAt, type Change, type Query } from './place.ts';
import { overview } from './state.tsx';
import { clustersIn } from './overview-model.ts';

const STATES: readonly JobLine['state'][] = ['Waiting', 'NeverFits', 'Held', 'Dispatching', 'Running', 'Resting', 'Complete', 'Failed'];

/** All Jobs, of which only those are fetched that are looked at. What is looked for stands in the address. */
export function Jobs({ query }: { readonly query: Query }) {
  const change: Change = (next) => {
    location.hash = jobsAt({ ...query, ...next });
  };
  return (
    <div class="jobs">
      <h1 class="hidden">Jobs</h1>
      <Filters query={query} change={change} />
      <JobTable key={JSON.stringify(query)} query={query} change={change} />
    </div>
  );
}

function Filters({ query, change }: { readonly query: Query; readonly change: Change }) {
  const chosen = new Set((query['state'] ?? '').split(',').filter((each) => each !== ''));
  const [text, setText] = useState(query['text'] ?? '');
  useEffect(() => setText(query['text'] ?? ''), [query['text']]);
  // What was typed goes into the address of then, not into the one that it was typed at.
  const latest = useRef(change);
  latest.current = change;
  useEffect(() => {
    if (text === (query['text'] ?? '')) return undefined;
    const timer = setTimeout(() => latest.current({ text }), 250);
    return () => clearTimeout(timer);
  }, [text]);
  const toggle = (state: string): void => {
    const next = new Set(chosen);
    if (!next.delete(state)) next.add(state);
    change({ state: [...next].join(',') });
  };
  const clusters = clustersIn(overview.value ?? new Map());
  const others = ['namespace', 'queue', 'clusterQueue', 'kind', 'user', 'reason', 'cause'].filter((name) => query[name] !== undefined);
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
            <Glyph of={state} /> {stateWord(state)}
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
      <LabelFilter query={query} change={change} />
      {others.map((name) => (
        <button key={name} type="button" class="token" onClick={() => change({ [name]: undefined })} title="Take this filter off">
          {name === 'clusterQueue' ? 'cluster queue' : name === 'cause' ? 'waits' : name}: {query[name]} ×
        </button>
      ))}
    </search>
  );
}

/** `NAME` or `NAME=VALUE`. */
function LabelFilter({ query, change }: { readonly query: Query; readonly change: Change }) {
  const label = query['label'] ?? '';
  return (
    <label>
      <span class="soft">label</span>
      <input
        class="label-filter"
        type="text"
        spellcheck={false}
        autocomplete="off"
        placeholder="team=red"
        aria-label="Label, as NAME or NAME=VALUE"
        value={label}
        onChange={({ currentTarget }) => {
          const next = currentTarget.value.trim();
          change({ label: next, ...(next === '' && query['group'] === 'label' && { group: undefined }) });
        }}
      />
    </label>
  );
}
