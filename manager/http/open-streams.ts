import { createHash } from 'node:crypto';

/** How many streams are open, and of whom. */
export interface OpenStreams {
  readonly size: number;
  /** Counts one more and returns how to count it no longer; undefined when there are too many. */
  open(authorization: string | undefined): (() => void) | undefined;
}

/** So many at once, and of one token, so that nobody keeps all others out. */
export function createOpenStreams(limits: { readonly all: number; readonly perToken: number }): OpenStreams {
  const byToken = new Map<string, number>();
  let size = 0;
  return {
    get size() {
      return size;
    },
    open(authorization = '') {
      // The token itself is not kept.
      const token = createHash('sha256').update(authorization).digest('base64');
      const own = byToken.get(token) ?? 0;
      if (size >= limits.all || own >= limits.perToken) return undefined;
      size++;
      byToken.set(token, own + 1);
      let closed = false;
      return () => {
        if (closed) return;
        closed = true;
        size--;
        const left = (byToken.get(token) ?? 1) - 1;
        if (left === 0) byToken.delete(token);
        else byToken.set(token, left);
      };
    },
  };
}
