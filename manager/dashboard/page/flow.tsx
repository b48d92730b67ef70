import { useLayoutEffect, useRef } from 'preact/hooks';

const MOVE_MS = 520;

/** Lets Jobs that have changed their place on the page travel there (first, last, invert, play). */
export function useFlow(depends: unknown): { readonly current: HTMLDivElement | null } {
  const root = useRef<HTMLDivElement>(null);
  const places = useRef(new Map<string, DOMRect>());
  useLayoutEffect(() => {
    const element = root.current;
    if (element === null) return;
    const before = places.current;
    const after = new Map<string, DOMRect>();
    const calm = matchMedia('(prefers-reduced-motion: reduce)').matches;
    for (const wagon of element.querySelectorAll<HTMLElement>('[data-job]')) {
      const key = wagon.dataset['job'] ?? '';
      const to = wagon.getBoundingClientRect();
      after.set(key, new DOMRect(to.x + scrollX, to.y + scrollY, to.width, to.height));
      if (calm || before.size === 0) continue;
      const from = before.get(key);
      if (from === undefined) wagon.animate([{ opacity: 0, transform: 'translateX(-12px)' }, { opacity: 1, transform: 'none' }], { duration: MOVE_MS / 2, easing: 'ease-out' });
      else {
        const [dx, dy] = [from.x - to.x - scrollX, from.y - to.y - scrollY];
        if (Math.abs(dx) + Math.abs(dy) < 2) continue;
        wagon.animate([{ transform: `translate(${dx}px, ${dy}px)` }, { transform: 'none' }], { duration: MOVE_MS, easing: 'cubic-bezier(0.3, 0.7, 0.2, 1)' });
      }
    }
    places.current = after;
  }, [depends]);
  return root;
}
