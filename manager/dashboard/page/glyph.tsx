import type { Health, JobLine } from '../views.ts';

type Shape = { readonly path: string; readonly isFilled?: true };

const CHECK: Shape = { path: 'M1.5 5.5 4 8l4.5-6' };
const CROSS: Shape = { path: 'm2 2 6 6m0-6-6 6' };
const RING: Shape = { path: 'M5 1.2a3.8 3.8 0 1 0 0 7.6 3.8 3.8 0 0 0 0-7.6z' };

/** One shape for each state and health: a colour alone is not seen by everybody. */
const SHAPES: Readonly<Record<JobLine['state'] | Health, Shape>> = {
  Waiting: { path: `${RING.path}M5 3v2.2l1.5.9` },
  NeverFits: { path: `${RING.path}M2.4 7.6 7.6 2.4` },
  Held: { path: 'M2.4 1.5h1.8v7H2.4zm3.4 0h1.8v7H5.8z', isFilled: true },
  Dispatching: { path: 'M1 5h7.5M5.5 2l3 3-3 3' },
  Running: { path: 'M2.5 1.2 8.8 5 2.5 8.8z', isFilled: true },
  Resting: { path: 'M2 2h6v6H2z', isFilled: true },
  Complete: CHECK,
  Failed: CROSS,
  Good: CHECK,
  Warning: { path: 'M5 1.2 9.2 9H.8zM5 4v2.2' },
  Bad: CROSS,
  Idle: RING,
};

export function Glyph({ of }: { readonly of: JobLine['state'] | Health }) {
  const { path, isFilled } = SHAPES[of];
  return (
    <svg class={isFilled ? 'glyph filled' : 'glyph'} viewBox="0 0 10 10" width="10" height="10" aria-hidden="true">
      <path d={path} />
    </svg>
  );
}
