import { useEffect, useRef } from 'preact/hooks';
import { entry, overlay, place } from './state.tsx';

/** After `g`. */
const PAGES: Readonly<Record<string, string>> = { y: 'yard', j: 'jobs', q: 'queues', c: 'clusters', s: 'submissions', u: 'usage' };
const SEQUENCE_MS = 1_500;
const STEPS: Readonly<Record<string, number>> = { j: 1, k: -1 };

const KEYS = [
  ['Ctrl K or ⌘ K', 'find a page, a queue, a cluster or a Job'],
  ['/', 'filter Jobs'],
  ['j, k', 'the next row of a table, the one before'],
  ['Enter', 'open it'],
  ['g then y, j, q, c, s, u', 'Yard, Jobs, Queues, Clusters, Submissions, Usage'],
  ['← →', 'another moment, on the time line of the yard'],
  ['Escape', 'close what is open; back to now'],
  ['?', 'these keys'],
] as const;

/** Keys that work on every page, unless somebody types. */
export function useKeys(): void {
  const goneMs = useRef(Number.NEGATIVE_INFINITY);
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (entry.value.kind !== 'Inside') return;
      const { key } = event;
      if (key.toLowerCase() === 'k' && (event.ctrlKey || event.metaKey)) {
        event.preventDefault();
        overlay.value = overlay.value === 'Palette' ? undefined : 'Palette';
        return;
      }
      const target = event.target as HTMLElement;
      if (event.ctrlKey || event.metaKey || event.altKey || overlay.value !== undefined || target.closest('dialog') !== null) return;
      if (/^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName) && !target.matches('[type="checkbox"]')) return;
      const page = event.timeStamp - goneMs.current < SEQUENCE_MS ? PAGES[key] : undefined;
      goneMs.current = key === 'g' ? event.timeStamp : Number.NEGATIVE_INFINITY;
      if (page !== undefined) location.hash = `#/${page}`;
      else if (key === '?') overlay.value = 'Keys';
      else if (STEPS[key] !== undefined) moveAmongRows(STEPS[key]);
      else if (key === '/') {
        event.preventDefault();
        if (place.value.page !== 'jobs') location.hash = '#/jobs';
        setTimeout(() => document.querySelector<HTMLInputElement>('#filter-text')?.focus());
      }
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, []);
}

/** Moves the focus to the link of the next row, or to the first that is seen. */
export function moveAmongRows(step: number): void {
  const links = [...document.querySelectorAll('main [role="row"], main tbody tr')].flatMap((row) => row.querySelector<HTMLElement>('a[href]') ?? []);
  const inOrder = links.toSorted((a, b) => Number(a.dataset['row'] ?? 0) - Number(b.dataset['row'] ?? 0));
  const at = inOrder.findIndex((link) => link.closest('[role="row"], tr')?.contains(document.activeElement) === true);
  const next = at >= 0 ? inOrder[at + step] : inOrder.find((link) => link.getBoundingClientRect().top >= (link.closest('[role="rowgroup"]')?.getBoundingClientRect().top ?? 0));
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
}

export function KeysHelp() {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog class="confirm" ref={dialog} onClose={() => (overlay.value = undefined)} aria-labelledby="keys-head">
      <form method="dialog">
        <h2 id="keys-head">Keys</h2>
        <dl class="keys">
          {KEYS.map(([keys, does]) => (
            <div key={keys}>
              <dt>
                <kbd>{keys}</kbd>
              </dt>
              <dd>{does}</dd>
            </div>
          ))}
        </dl>
        <p class="choices">
          <button type="submit" class="quiet">
            Close
          </button>
        </p>
      </form>
    </dialog>
  );
}
