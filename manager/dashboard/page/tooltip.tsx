import { useEffect, useState } from 'preact/hooks';

const EDGE_PX = 8;
const WIDTH_PX = 420;

type Shown = { readonly text: string; readonly left: number; readonly top: number; readonly isAbove: boolean };

/** What the element under the pointer, or with the focus, says in its `data-tip`. Escape hides it. */
export function Tooltip() {
  const [shown, setShown] = useState<Shown | undefined>(undefined);
  useEffect(() => {
    const show = ({ target }: Event): void => {
      const element = target instanceof Element ? (target.closest<HTMLElement>('[data-tip]') ?? tipWithin(target)) : undefined;
      const text = element?.dataset['tip'];
      if (element === undefined || text === undefined || text === '') return setShown(undefined);
      const { left, top, bottom } = element.getBoundingClientRect();
      const isAbove = bottom > innerHeight * 0.7;
      setShown({ text, left: Math.max(EDGE_PX, Math.min(left, innerWidth - WIDTH_PX - EDGE_PX)), top: isAbove ? top - 6 : bottom + 6, isAbove });
    };
    const hide = (event: Event): void => {
      if (!(event instanceof KeyboardEvent) || event.key === 'Escape') setShown(undefined);
    };
    const leaving = new AbortController();
    const { signal } = leaving;
    for (const type of ['mouseover', 'focusin']) document.addEventListener(type, show, { signal });
    for (const type of ['keydown', 'pointerdown', 'focusout']) document.addEventListener(type, hide, { signal });
    document.addEventListener('scroll', hide, { signal, capture: true });
    return () => leaving.abort();
  }, []);
  if (shown === undefined) return null;
  const { text, left, top, isAbove } = shown;
  return (
    <div class={isAbove ? 'tooltip above' : 'tooltip'} role="tooltip" style={{ left: `${left}px`, top: `${top}px` }}>
      {text}
    </div>
  );
}

/** The row of a link that has the focus tells what its cell has. */
const tipWithin = (target: Element): HTMLElement | undefined =>
  target.matches(':focus') ? (target.closest('[role="row"], tr')?.querySelector<HTMLElement>('[data-tip]') ?? undefined) : undefined;
