import { setTimeout as sleep } from 'node:timers/promises';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import type { Answer, ApiCase, RequestExchange, WatchExchange } from './api-case.ts';
import { type CaseWords, createCaseWords } from './case-words.ts';
import type { HookServer } from './hook-server.ts';
import { isObject, removeAt, setAt, valueAt } from './json-path.ts';
import type { RawAnswer, RawHttp, RawWatch } from './raw-http.ts';

/** What a run of a case gave: one raw answer for each exchange, and what its words stood for. */
export type PlayedCase = { readonly answers: readonly Answer[]; readonly words: Readonly<Record<string, string>> };

const ASK_AGAIN_MS = 150;
const UNTIL_LIMIT_MS = 30_000;
const EVENTS_LIMIT_MS = 10_000;
const LOOK_EVERY_MS = 20;
/** So long a watch stays open after the last awaited event: one too many would show. */
const SURPLUS_MS = 250;

/**
 * Plays a case in a namespace of its own. What it made outside of namespaces is deleted afterwards; the namespace stays,
 * since servers under test do not outlive the suite. `id` is what is fresh about this run: a DNS label.
 */
export async function playApiCase(http: RawHttp, hooks: HookServer, apiCase: ApiCase, id: string): Promise<PlayedCase> {
  const words = createCaseWords({
    '{ns}': `ns-${id}`,
    '{id}': id,
    '{hook}': `${hooks.url}/${id}`,
    '{deadHook}': hooks.deadUrl,
    '{caBundle}': hooks.caBundle,
  });
  for (const [name, plan] of Object.entries(apiCase.hooks ?? {})) hooks.plan(`${id}/${name}`, plan);
  const made: string[] = [];
  const open = new Map<string, OpenWatch>();
  const answers: Answer[] = [];
  await createNamespace(http, `ns-${id}`);
  try {
    for (const exchange of apiCase.exchanges) {
      const position = answers.push({}) - 1;
      if ('method' in exchange) {
        answers[position] = await request(http, words, exchange, made);
      } else if ('watch' in exchange) {
        const watch = await http.watch(words.fillText(exchange.watch), filledHeaders(words, exchange.headers));
        open.set(exchange.as ?? THE_WATCH, { exchange, watch, position });
      } else if ('watchEnd' in exchange) {
        await endWatch(exchange.watchEnd === true ? THE_WATCH : exchange.watchEnd);
      } else if ('hookCalls' in exchange) {
        answers[position] = { calls: hooks.calls(`${id}/${exchange.hookCalls}`) };
      } else {
        await sleep(exchange.sleep);
      }
    }
    for (const name of open.keys()) await endWatch(name);
  } finally {
    for (const { watch } of open.values()) watch.close();
    for (const path of made.toReversed()) await http.send({ method: 'DELETE', path });
  }
  return { answers: structuredClone(answers), words: words.words };

  async function endWatch(name: string): Promise<void> {
    const ending = open.get(name);
    if (ending === undefined) throw new Error(`the case ends the watch ${name}, which is not open`);
    open.delete(name);
    answers[ending.position] = await outcomeOf(ending);
  }
}

/** The name of a watch that has none. */
const THE_WATCH = 'w';
type OpenWatch = { readonly exchange: WatchExchange; readonly watch: RawWatch; readonly position: number };

async function createNamespace(http: RawHttp, name: string): Promise<void> {
  const text = JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  const created = await http.send({ method: 'POST', path: '/api/v1/namespaces', headers: { 'content-type': 'application/json' }, text });
  if (created.status !== 201) throw new Error(`creating namespace ${name}: ${created.status} ${created.text}`);
}

/** Sends the request until its `until` is met or the time is over, and notes cluster-scoped objects it makes. */
async function request(http: RawHttp, words: CaseWords, exchange: RequestExchange, made: string[]): Promise<Answer> {
  const { method, until, save } = exchange;
  const path = words.fillText(exchange.path);
  const text = bodyOf(words, exchange);
  const headers = filledHeaders(words, exchange.headers);
  const contentType = text === undefined ? {} : { 'content-type': CONTENT_TYPES[exchange.type ?? 'json'] ?? exchange.type ?? '' };
  let answer: RawAnswer;
  for (const begin = Date.now(); ; ) {
    answer = await http.send({ method, path, headers: { ...contentType, ...headers }, ...omitUndefined({ text }) });
    if (isMet(words, until, answer) || isAwaitedInVain(exchange) || Date.now() - begin > UNTIL_LIMIT_MS) break;
    await sleep(ASK_AGAIN_MS);
  }
  const name = valueAt(answer.json, 'metadata.name');
  if (method === 'POST' && answer.status === 201 && isClusterScoped(path) && typeof name === 'string')
    made.push(`${path.replace(/\?.*/, '')}/${name}`);
  if (save !== undefined) words.save(save, answer.json);
  return answerOf(answer);
}

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  json: 'application/json',
  merge: 'application/merge-patch+json',
  strategic: 'application/strategic-merge-patch+json',
  'json-patch': 'application/json-patch+json',
  apply: 'application/apply-patch+yaml',
};

/** A namespace counts as well, but what is in it would only be in the way of its deletion. */
const isClusterScoped = (path: string): boolean => !/\/namespaces(\/|$|\?)|\?.*dryRun/.test(path);

function bodyOf(words: CaseWords, exchange: RequestExchange): string | undefined {
  if (exchange.text !== undefined) return words.fillText(exchange.text);
  if (exchange.from === undefined) return exchange.body === undefined ? undefined : JSON.stringify(words.fill(exchange.body));
  const body = structuredClone(words.saved(exchange.from));
  removeAt(body, 'metadata.managedFields');
  for (const [path, value] of Object.entries(exchange.set ?? {})) setAt(body, words.fillText(path), words.fill(value));
  for (const path of exchange.unset ?? []) removeAt(body, path);
  return JSON.stringify(body);
}

const filledHeaders = (words: CaseWords, headers: RequestExchange['headers'] = {}): Record<string, string | null> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value === null ? null : words.fillText(value)]));

/** Where the recording waited in vain, the answer to its last try is the one to compare. */
const isAwaitedInVain = ({ until, expect }: RequestExchange): boolean =>
  until !== undefined && (expect?.status ?? 0) >= 400 && until.status !== expect?.status;

function isMet(words: CaseWords, until: RequestExchange['until'], answer: RawAnswer): boolean {
  if (until === undefined) return true;
  if (until.status !== undefined && until.status !== answer.status) return false;
  return until.at === undefined || (valueAt(answer.json, words.fillText(until.at)) ?? null) === words.fill(until.is ?? null);
}

function answerOf({ status, headers, json, text }: RawAnswer): Answer {
  const { warning, 'retry-after': retryAfter, 'content-type': contentType = 'application/json' } = headers;
  return {
    status,
    ...(json === undefined ? (text === '' ? {} : { text }) : { body: json }),
    ...omitUndefined({ warning, retryAfter }),
    ...(contentType === 'application/json' ? {} : { contentType }),
  };
}

/** Waits for what the case wants to see of a watch, and a little longer. */
async function outcomeOf({ exchange, watch }: OpenWatch): Promise<Answer> {
  if (watch.refusal !== undefined) {
    const { status, json, text } = watch.refusal;
    return json === undefined ? { status, text } : { status, body: json };
  }
  const { ms, events, end } = exchange.until ?? { events: 1 };
  const visible = (): unknown[] => tellingEvents(watch.events, exchange.bookmarks === true);
  const enough = (): boolean => watch.ended || (events !== undefined && visible().length >= events);
  if (ms === undefined) for (const begin = Date.now(); !enough() && Date.now() - begin < EVENTS_LIMIT_MS; ) await sleep(LOOK_EVERY_MS);
  else await sleep(ms);
  if (events !== undefined && !watch.ended) await sleep(SURPLUS_MS);
  const { ended } = watch;
  watch.close();
  return { status: 200, events: visible(), ...(end || ended ? { ended } : {}) };
}

/** Without plain bookmarks, unless the case asks for them; of those in a row, whose number is up to the server, only the first. */
function tellingEvents(events: readonly unknown[], withBookmarks: boolean): unknown[] {
  if (!withBookmarks) return events.filter(isTelling);
  const isBookmark = (event: unknown): boolean => isObject(event) && event['type'] === 'BOOKMARK';
  return events.filter((event, index) => !isBookmark(event) || !isBookmark(events[index - 1]));
}

/** Plain bookmarks come when the server likes; the one that ends the initial events comes where it must. */
function isTelling(event: unknown): boolean {
  if (!isObject(event) || event['type'] !== 'BOOKMARK') return true;
  const annotations = valueAt(event, 'object.metadata.annotations');
  return isObject(annotations) && Boolean(annotations['k8s.io/initial-events-end']);
}
