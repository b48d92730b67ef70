import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiProblem, type Api } from './api.ts';
import { entry } from './state.tsx';

const AT_ONCE_MS = 1_000;

export type Asked<T> = { readonly value: T | undefined; readonly problem: ApiProblem | undefined };

/** Asks the server, again whenever `changes` does, but not more often than once a second. What was told last stays until there is more. */
export function useAsked<T>(ask: (api: Api) => Promise<T>, subject: string, changes: unknown): Asked<T> {
  const [asked, setAsked] = useState<Asked<T> & { readonly subject: string }>({ subject, value: undefined, problem: undefined });
  const lastMs = useRef(0);
  const who = entry.value;
  useEffect(() => {
    if (who.kind !== 'Inside') return undefined;
    let isGone = false;
    const run = async (): Promise<void> => {
      lastMs.current = Date.now();
      try {
        const value = await ask(who.api);
        if (!isGone) setAsked({ subject, value, problem: undefined });
      } catch (error) {
        const problem = error instanceof ApiProblem ? error : new ApiProblem(0, String(error));
        if (!isGone) setAsked((before) => ({ subject, value: before.subject === subject ? before.value : undefined, problem }));
      }
    };
    const timer = setTimeout(() => void run(), asked.subject === subject ? Math.max(0, lastMs.current + AT_ONCE_MS - Date.now()) : 0);
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [subject, changes]);
  return asked.subject === subject ? asked : { value: undefined, problem: undefined };
}
