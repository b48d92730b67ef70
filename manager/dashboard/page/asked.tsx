import { useEffect, useRef, useState } from 'preact/hooks';
import { problemOf, type Api, type ApiProblem } from './api.ts';
import { entry } from './state.tsx';

const AT_ONCE_MS = 1_000;

export type Asked<T> = { readonly value: T | undefined; readonly problem: ApiProblem | undefined };

/** What is being done about one subject. */
type Asking = { isGone: boolean; isBusy: boolean; isWanted: boolean; sinceMs: number };

/**
 * Asks the server, again whenever `changes` does, but once in a second at most, and only when it has answered: what changes faster than
 * that is shown as it was a moment ago, and not never. What was told last stays until there is more.
 */
export function useAsked<T>(ask: (api: Api) => Promise<T>, subject: string, changes: unknown): Asked<T> {
  const [asked, setAsked] = useState<Asked<T> & { readonly subject: string }>({ subject, value: undefined, problem: undefined });
  const asking = useRef<Asking | undefined>(undefined);

  const run = async (own: Asking): Promise<void> => {
    const who = entry.peek();
    if (own.isGone || who.kind !== 'Inside') return;
    own.sinceMs = Date.now();
    own.isWanted = false;
    try {
      const value = await ask(who.api);
      if (!own.isGone) setAsked({ subject, value, problem: undefined });
    } catch (error) {
      const problem = problemOf(error);
      if (!own.isGone) setAsked((before) => ({ subject, value: before.subject === subject ? before.value : undefined, problem }));
    }
    own.isBusy = false;
    begin(own);
  };
  const begin = (own: Asking): void => {
    if (own.isBusy || !own.isWanted) return;
    own.isBusy = true;
    setTimeout(() => void run(own), Math.max(0, own.sinceMs + AT_ONCE_MS - Date.now()));
  };

  useEffect(() => {
    const own: Asking = { isGone: false, isBusy: false, isWanted: false, sinceMs: 0 };
    asking.current = own;
    return () => {
      own.isGone = true;
    };
  }, [subject]);
  useEffect(() => {
    if (asking.current === undefined) return;
    asking.current.isWanted = true;
    begin(asking.current);
  }, [subject, changes]);
  return asked.subject === subject ? asked : { value: undefined, problem: undefined };
}

/**
 * Asks about a subject that has stood still for so long; without one nothing is asked. What was told last stays until there is more: while
 * `isAsking` it is about what was there before.
 */
export function useAskedAtRest<T>(ask: (api: Api) => Promise<T>, subject: string | undefined, restMs: number): Asked<T> & { readonly isAsking: boolean } {
  const [told, setTold] = useState<Asked<T> & { readonly about: string | undefined }>({ about: undefined, value: undefined, problem: undefined });
  const who = entry.value;
  useEffect(() => {
    if (subject === undefined || who.kind !== 'Inside') return undefined;
    let isGone = false;
    const run = async (): Promise<void> => {
      try {
        const value = await ask(who.api);
        if (!isGone) setTold({ about: subject, value, problem: undefined });
      } catch (error) {
        if (!isGone) setTold({ about: subject, value: undefined, problem: problemOf(error) });
      }
    };
    const timer = setTimeout(() => void run(), restMs);
    return () => {
      isGone = true;
      clearTimeout(timer);
    };
  }, [subject, who]);
  return { value: told.value, problem: told.problem, isAsking: subject !== undefined && told.about !== subject };
}
