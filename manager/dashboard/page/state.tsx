/** What all parts of the page look at. */
import { computed, signal } from '@preact/signals';
import type { JobLine, Viewer, OverviewChange } from '../views.ts';
import { createApi, createSignInApi, problemOf, type Api, type Provider } from './api.ts';
import { follow, type Connection, type FollowOptions } from './follow.ts';
import { parsePlace, takeToken } from './place.ts';
import { changed, type Overview } from './overview-model.ts';

const THEME_KEY = 'switchyard-theme';

export type Theme = 'auto' | 'light' | 'dark';
/** `Asking`: whether anybody need say who he is. */
export type Entry =
  | { readonly kind: 'Asking' }
  | { readonly kind: 'Outside'; readonly why: string | undefined }
  | { readonly kind: 'Inside'; readonly viewer: Viewer; readonly api: Api };

export const entry = signal<Entry>({ kind: 'Asking' });
/** Where users can sign in besides; undefined: not known yet. */
export const provider = signal<Provider | undefined>(undefined);
export const connection = signal<Connection>({ kind: 'Connecting' });
export const overview = signal<Overview | undefined>(undefined);
/** When the server said so, and what it was then; to know what time it is there. */
export const lastHeard = signal<{ readonly atMs: number; readonly hereMs: number }>({ atMs: Date.now(), hereMs: Date.now() });
/** The moment of this machine at which the server was heard last. */
export const heardMs = signal(Date.now());
export const place = signal(parsePlace(location.hash));
export const now = signal(Date.now());
/** What stands over the page. */
export const overlay = signal<'Palette' | 'Keys' | undefined>(undefined);
export const theme = signal<Theme>((localStorage.getItem(THEME_KEY) as Theme | null) ?? 'auto');

/** Jobs that have changed, to those who show them. */
export type JobNews = { readonly jobs: readonly JobLine[]; readonly gone: readonly string[]; readonly isAll: boolean; readonly number: number };
export const jobNews = signal<JobNews>({ jobs: [], gone: [], isAll: false, number: 0 });

/** Ages are those of the server's clock, whatever that of this machine says. */
export const serverNow = computed(() => now.value + (lastHeard.value.atMs - lastHeard.value.hereMs));

/** As a browser has them. */
export const BROWSER_TIME: Pick<FollowOptions, 'sleep' | 'random'> = {
  sleep: (ms, signal) =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
    }),
  random: Math.random,
};

let following = new AbortController();
const signIn = createSignInApi((input, init) => fetch(input, init));

export async function enter(token: string | undefined): Promise<void> {
  const api = createApi(token, (input, init) => fetch(input, init));
  try {
    const viewer = await api.viewer();
    entry.value = { kind: 'Inside', viewer, api };
    provider.value = undefined;
    start(api);
    if (viewer.sessionMs !== undefined) void keepSession(viewer.sessionMs, following.signal);
  } catch (error) {
    const problem = problemOf(error);
    entry.value = { kind: 'Outside', why: token === undefined && problem.status === 401 ? undefined : problem.status === 0 ? 'The manager does not answer.' : problem.message };
  }
}

/** How long before its end a session is prolonged, of which a short one has half. */
const BEFORE_END_MS = 60_000;
const LEFT_MS_MIN = 1_000;
const SLEEP_MS_MAX = 2 ** 31 - 1;

/** Prolongs the session for as long as the page is open, if the provider lets it. Where the manager does not answer it asks again. */
async function keepSession(sessionMs: number, signal: AbortSignal): Promise<void> {
  let untilMs = Date.now() + sessionMs;
  for (;;) {
    const leftMs = untilMs - Date.now();
    await BROWSER_TIME.sleep(Math.min(SLEEP_MS_MAX, Math.max(leftMs - BEFORE_END_MS, leftMs / 2)), signal);
    if (signal.aborted || untilMs - Date.now() < LEFT_MS_MIN) return;
    // A provider may accept each refresh token once: of several tabs, one asks after the other.
    const nextMs = await navigator.locks.request('switchyard-session', () => signIn.prolong());
    if (nextMs === undefined) return;
    if (nextMs !== 'NoAnswer') untilMs = Date.now() + nextMs;
  }
}

/** Reads how users can sign in, for those who are outside. */
export async function askProvider(): Promise<void> {
  provider.value = await signIn.provider();
}

/** Ends the session, where there is one, and forgets the token. */
export async function signOut(): Promise<void> {
  const { value: who } = entry;
  following.abort();
  const hasSession = who.kind === 'Inside' && who.viewer.sessionMs !== undefined;
  leave(hasSession && !(await signIn.signOut()) ? 'The manager does not answer: this browser is still signed in. Load the page and try again.' : undefined);
}

export function leave(why?: string): void {
  following.abort();
  overview.value = undefined;
  entry.value = { kind: 'Outside', why };
}

function start(api: Api): void {
  following.abort();
  following = new AbortController();
  void follow(
    {
      api,
      onEvent({ event, data }) {
        const change = JSON.parse(data) as OverviewChange;
        overview.value = changed(event === 'yard' ? new Map() : (overview.value ?? new Map()), change);
        lastHeard.value = { atMs: change.atMs, hereMs: Date.now() };
        jobNews.value = { jobs: change.jobs, gone: change.gone, isAll: event === 'yard' || change.more > 0, number: jobNews.value.number + 1 };
      },
      onConnection(next) {
        connection.value = next;
        if (next.kind === 'Refused') leave(next.why);
      },
      onHeard: () => (heardMs.value = Date.now()),
      ...BROWSER_TIME,
    },
    following.signal,
  );
}

export function setTheme(next: Theme): void {
  theme.value = next;
  if (next === 'auto') localStorage.removeItem(THEME_KEY);
  else localStorage.setItem(THEME_KEY, next);
}

/** A token that came with the address is taken out of it at once, so that it is in no bookmark. */
export function begin(): void {
  addEventListener('hashchange', () => {
    const token = arrive();
    if (token !== undefined) void enter(token);
  });
  setInterval(() => (now.value = Date.now()), 1000);
  void enter(arrive());
}

function arrive(): string | undefined {
  const { token, rest } = takeToken(location.hash);
  if (token !== undefined) history.replaceState(null, '', `${location.pathname}${rest}`);
  place.value = parsePlace(location.hash);
  return token;
}
