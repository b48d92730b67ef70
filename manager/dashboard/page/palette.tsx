import { useEffect, useRef, useState } from 'preact/hooks';
import { useAskedAtRest } from './asked.tsx';
import { entriesFor, entryOf, type Entry } from './palette-entries.ts';
import { overlay, overview } from './state.tsx';

const JOBS_SHOWN = '8';
const REST_MS = 150;

/** One field from which every page, queue, cluster and Job is found. Jobs are looked for by the manager. */
export function Palette() {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState('');
  const [chosen, setChosen] = useState(0);
  const wanted = text.trim();
  const jobs = useAskedAtRest((api) => api.jobs({ text: wanted, limit: JOBS_SHOWN }), wanted === '' ? undefined : wanted, REST_MS);
  const found: readonly Entry[] = [...entriesFor(overview.value ?? new Map(), wanted), ...(wanted === '' ? [] : (jobs.value?.jobs ?? []).map(entryOf))];
  useEffect(() => {
    dialog.current?.showModal();
  }, []);
  const current = Math.min(chosen, found.length - 1);
  const go = (entry: Entry | undefined): void => {
    if (entry === undefined) return;
    dialog.current?.close();
    location.hash = entry.href;
  };
  const onKey = (event: KeyboardEvent): void => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === 'Enter') go(found[current]);
    else if (step !== undefined && found.length > 0) setChosen((current + step + found.length) % found.length);
    else return;
    event.preventDefault();
  };
  return (
    <dialog class="confirm palette" ref={dialog} onClose={() => (overlay.value = undefined)} aria-label="Find">
      <input
        type="text"
        role="combobox"
        autocomplete="off"
        spellcheck={false}
        placeholder="A page, a queue, a cluster or a Job"
        aria-label="Find a page, a queue, a cluster or a Job"
        aria-expanded="true"
        aria-controls="palette-found"
        aria-activedescendant={found.length === 0 ? undefined : `palette-${current}`}
        value={text}
        onInput={({ currentTarget: { value } }) => (setText(value), setChosen(0))}
        onKeyDown={onKey}
      />
      <ul id="palette-found" role="listbox" aria-label="Found">
        {found.map((entry, position) => (
          <li key={`${entry.kind} ${entry.href}`} id={`palette-${position}`} role="option" aria-selected={position === current} onClick={() => go(entry)}>
            <span>{entry.name}</span>
            <span class="soft">{entry.kind}</span>
          </li>
        ))}
      </ul>
      <p class="soft" role="status">
        {jobs.isAsking ? 'Looking for Jobs …' : jobs.problem !== undefined ? `Jobs are not found: ${jobs.problem.message}` : found.length === 0 ? 'Nothing is called that.' : ''}
      </p>
    </dialog>
  );
}
