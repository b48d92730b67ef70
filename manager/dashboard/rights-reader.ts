import { createHash } from 'node:crypto';
import { userMay, userOfToken, type AccessAttributes, type KubeUser } from '../../shared/kube/access-reviews.ts';
import { forbidden } from '../../shared/kube/access-gate.ts';
import type { RawClient } from '../../shared/kube/client.ts';
import { createRateLimiter, type RateLimiter } from '../../shared/kube/rate-limiter.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import type { HttpRefusal } from '../../shared/runtime/http-server.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { Rights, Seen } from './rights.ts';

/** Who somebody says that he is: by a token of the cluster, or as a trusted proxy has found out. */
export type Whom = { readonly kind: 'Token'; readonly token: string } | { readonly kind: 'User'; readonly user: KubeUser };

export type Admitted = { readonly kind: 'Admitted'; readonly user: KubeUser; readonly rights: Rights };
export type Refused = { readonly kind: 'Refused' } & HttpRefusal;
/** What somebody is answered who may see it, if it is there. */
export type Found<T> = { readonly kind: 'Found'; readonly value: T } | { readonly kind: 'Missing'; readonly what: string } | Refused;

/** Finds out what somebody may see and do, by SubjectAccessReviews. Answers are kept for a minute, and so many of them. Never rejects. */
export interface RightsReader {
  /** `address`: where he asks from; those from there who are not known yet wait for one another. */
  rightsOf(whom: Whom, address?: string): Promise<Admitted | Refused>;
  /** Undefined: he may. */
  refusal(user: KubeUser, attributes: AccessAttributes): Promise<Refused | undefined>;
  /** The same, asked anew. */
  refusalNow(user: KubeUser, attributes: AccessAttributes): Promise<Refused | undefined>;
}

export type RightsReaderDeps = {
  /** The API server that knows the tokens. Without a rate limit of its own. */
  readonly client: RawClient;
  /** What there is to be asked about, by name. */
  readonly namespaces: () => readonly string[];
  readonly queues: () => readonly string[];
  readonly clusters: () => readonly string[];
  readonly clock: Clock;
  readonly log: Logger;
};

const KEPT_MS = 60_000;
const REFUSED_KEPT_MS = 10_000;
const VIEWERS_MAX = 1_024;
const ANSWERS_MAX = 8_192;
const ANSWER_MS = 5_000;
/** Asked about for each viewer who may not see all of them: the first of each by name. */
const NAMED_MAX = 500;
/** Under way at once for one viewer. */
const AT_ONCE = 8;
/** Tokens that are not known yet, of one address, in a second and at once. */
const STRANGERS_QPS = 5;
const STRANGERS_BURST = 20;
/** Each has at least one connection; those that have not asked for longest are forgotten. */
const ADDRESSES_MAX = 1_024;

const list = (namespace: string, group: string, resource: string): AccessAttributes => ({
  resourceAttributes: { namespace, verb: 'list', group, resource },
});
const get = (group: string, resource: string, name: string): AccessAttributes => ({
  resourceAttributes: { namespace: '', verb: 'get', group, resource, name },
});
const OURS = 'switchyard.dev';

export function createRightsReader({ client, namespaces, queues, clusters, clock, log }: RightsReaderDeps): RightsReader {
  // However many tokens are tried, who was let in stays known.
  const viewers = createKept<Admitted | Refused>(clock, VIEWERS_MAX, ({ kind }) => kind === 'Admitted');
  const answers = createKept<boolean>(clock, ANSWERS_MAX, () => false);
  const strangers = new Map<string, RateLimiter>();

  /** Who tries tokens keeps nobody else's address waiting. */
  const strangersFrom = (address: string): RateLimiter => {
    const limiter = strangers.get(address) ?? createRateLimiter({ qps: STRANGERS_QPS, burst: STRANGERS_BURST, clock });
    strangers.delete(address);
    strangers.set(address, limiter);
    const oldest = strangers.size > ADDRESSES_MAX ? strangers.keys().next().value : undefined;
    if (oldest !== undefined) strangers.delete(oldest);
    return limiter;
  };

  /** With so much time for the answer. */
  const timed = async <T>(ask: (signal: AbortSignal) => Promise<T>): Promise<T> => {
    const deadline = new AbortController();
    const timer = clock.schedule(() => deadline.abort(new Error(`no answer in ${ANSWER_MS} ms`)), ANSWER_MS);
    try {
      return await ask(deadline.signal);
    } finally {
      timer.cancel();
    }
  };

  const may = (user: KubeUser, attributes: AccessAttributes): Promise<boolean> =>
    answers.of(
      digest([user, attributes]),
      () => timed((signal) => userMay(client, user, attributes, signal)),
      (allowed) => (allowed ? KEPT_MS : REFUSED_KEPT_MS),
    );

  const seen = async (
    user: KubeUser,
    all: AccessAttributes,
    names: readonly string[],
    one: (name: string) => AccessAttributes,
  ): Promise<Seen> => {
    if (await may(user, all)) return 'All';
    const asked = names.toSorted().slice(0, NAMED_MAX);
    const found = new Set<string>();
    let next = 0;
    const askOn = async (): Promise<void> => {
      for (let name = asked[next++]; name !== undefined; name = asked[next++]) if (await may(user, one(name))) found.add(name);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, askOn));
    return found;
  };

  const lookUp = async (whom: Whom, address: string, before: Admitted | Refused | undefined): Promise<Admitted | Refused> => {
    // Neither who was let in before nor whom a proxy has asked already waits behind a crowd of strangers.
    if (whom.kind === 'Token' && before?.kind !== 'Admitted') await timed((signal) => strangersFrom(address).acquire(signal));
    const user = whom.kind === 'User' ? whom.user : await timed((signal) => userOfToken(client, whom.token, signal));
    if (user === undefined) return { kind: 'Refused', status: 401, why: 'the token is not valid in this cluster' };
    const [ofNamespaces, ofQueues, ofClusters] = await Promise.all([
      seen(user, list('', 'batch', 'jobs'), namespaces(), (namespace) => list(namespace, 'batch', 'jobs')),
      seen(user, list('', OURS, 'clusterqueues'), queues(), (name) => get(OURS, 'clusterqueues', name)),
      seen(user, list('', OURS, 'workerclusters'), clusters(), (name) => get(OURS, 'workerclusters', name)),
    ]);
    return { kind: 'Admitted', user, rights: { namespaces: ofNamespaces, queues: ofQueues, clusters: ofClusters } };
  };

  const unanswered = (error: unknown): Refused => {
    log.warn('nobody can be asked who looks at the dashboard and what he may see; he is not let in', { error });
    return { kind: 'Refused', status: 503, why: 'cannot find out who asks: the API server does not answer as it should' };
  };

  return {
    async rightsOf(whom, address = '') {
      try {
        return await viewers.of(
          digest(whom),
          (before) => lookUp(whom, address, before),
          (answer) => (answer.kind === 'Admitted' ? KEPT_MS : REFUSED_KEPT_MS),
        );
      } catch (error) {
        return unanswered(error);
      }
    },
    async refusal(user, attributes) {
      try {
        return (await may(user, attributes)) ? undefined : { kind: 'Refused', status: 403, why: forbidden(attributes) };
      } catch (error) {
        return unanswered(error);
      }
    },
    async refusalNow(user, attributes) {
      try {
        const allowed = await timed((signal) => userMay(client, user, attributes, signal));
        return allowed ? undefined : { kind: 'Refused', status: 403, why: forbidden(attributes) };
      } catch (error) {
        return unanswered(error);
      }
    },
  };
}

/** Tokens themselves are not kept. */
const digest = (value: object): string => createHash('sha256').update(JSON.stringify(value)).digest('base64');

/** Answers by key, the same asked once at a time, the oldest given up first, those that are worth more after all others. One that failed is not kept. */
function createKept<T>(clock: Clock, most: number, isWorthMore: (answer: T) => boolean) {
  const kept = new Map<string, { readonly answer: Promise<T>; untilMs: number; last: T | undefined }>();
  const giveUpOne = (): void => {
    for (const [key, { last }] of kept) if (last === undefined || !isWorthMore(last)) return void kept.delete(key);
    for (const key of kept.keys()) return void kept.delete(key);
  };
  return {
    /** `ask` is told what was answered before. */
    async of(key: string, ask: (before: T | undefined) => Promise<T>, keptMs: (answer: T) => number): Promise<T> {
      const known = kept.get(key);
      if (known !== undefined && clock.now() < known.untilMs) return known.answer;
      const entry = { answer: ask(known?.last), untilMs: Number.POSITIVE_INFINITY, last: known?.last };
      kept.delete(key);
      kept.set(key, entry);
      if (kept.size > most) giveUpOne();
      try {
        const answer = await entry.answer;
        entry.untilMs = clock.now() + keptMs(answer);
        entry.last = answer;
        return answer;
      } catch (error) {
        if (kept.get(key) === entry) kept.delete(key);
        throw error;
      }
    },
  };
}
