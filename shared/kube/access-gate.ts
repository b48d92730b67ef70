import { createHash } from 'node:crypto';
import type { Clock } from '../runtime/clock.ts';
import type { HttpRefusal, MetricsGate } from '../runtime/http-server.ts';
import type { Logger } from '../runtime/logger.ts';
import { userMay, userOfToken, type AccessAttributes } from './access-reviews.ts';
import { ApiError } from './api-error.ts';
import type { RawClient } from './client.ts';
import { createRateLimiter } from './rate-limiter.ts';

/** Judges the header `Authorization` for one thing to do; undefined lets in. Never rejects. */
export type AccessGate = (authorization: string | undefined, attributes: AccessAttributes) => Promise<HttpRefusal | undefined>;

export type AccessGateDeps = {
  /** The API server that knows the tokens. Without a rate limit of its own: this one holds strangers back. */
  readonly client: RawClient;
  readonly clock: Clock;
  readonly log: Logger;
};

/** A token that was taken back is taken no longer than this (client caches of kube-apiserver's delegated authentication: one minute). */
const ALLOWED_MS = 60_000;
/** Who was just given the permission need not wait long. */
const REFUSED_MS = 10_000;
const TOKENS_MAX = 1_024;
/** The API server has this long for both questions about one token. */
const ANSWER_MS = 5_000;
/** Questions about tokens that have never been allowed: at once, and in a second. */
const STRANGERS_MAX = 32;
const STRANGERS_QPS = 10;
const STRANGERS_BURST = 20;

/** Lets in whose user may `get` the path /metrics. */
export function createMetricsGate(deps: AccessGateDeps): MetricsGate {
  const gate = createAccessGate(deps);
  return (authorization, path = '/metrics') => gate(authorization, { nonResourceAttributes: { path, verb: 'get' } });
}

/**
 * Lets in who has a bearer token that the API server knows (TokenReview) and whose user may do what is asked for (SubjectAccessReview).
 * Answers are kept for a while, equal questions asked once; without a token nothing is asked. When nobody can be asked, nobody is let in.
 */
export function createAccessGate({ client, clock, log }: AccessGateDeps): AccessGate {
  const answers = createAnswers(clock);
  const asking = new Map<string, Promise<HttpRefusal | undefined>>();
  const limiter = createRateLimiter({ qps: STRANGERS_QPS, burst: STRANGERS_BURST, clock });

  const ask = async (token: string, attributes: AccessAttributes, key: string, isStranger: boolean): Promise<HttpRefusal | undefined> => {
    const deadline = new AbortController();
    const timer = clock.schedule(() => deadline.abort(new Error(`no answer in ${ANSWER_MS} ms`)), ANSWER_MS);
    try {
      if (isStranger) await limiter.acquire(deadline.signal);
      const refusal = await judge(client, token, attributes, deadline.signal);
      answers.keep(key, refusal);
      return refusal;
    } catch (error) {
      log.warn('nobody can be asked who somebody is and what he may do; he is not let in', { error });
      return unanswered(error);
    } finally {
      timer.cancel();
      asking.delete(key);
    }
  };

  return async (authorization, attributes) => {
    const token = bearerToken(authorization);
    if (token === undefined) return UNAUTHENTICATED;
    // The token itself is not kept.
    const key = createHash('sha256')
      .update(JSON.stringify([token, attributes]))
      .digest('base64');
    const known = answers.find(key);
    if (known?.fresh === true) return known.refusal;
    const underWay = asking.get(key);
    if (underWay !== undefined) return underWay;
    // Who was allowed before does not wait behind a crowd of strangers.
    const isStranger = known === undefined || known.refusal !== undefined;
    if (isStranger && asking.size >= STRANGERS_MAX) return BUSY;
    const question = ask(token, attributes, key, isStranger);
    asking.set(key, question);
    return question;
  };
}

const UNAUTHENTICATED: HttpRefusal = {
  status: 401,
  why: 'a bearer token of this cluster is asked for: send Authorization: Bearer TOKEN',
};
const BUSY: HttpRefusal = { status: 503, why: 'too many unknown tokens are being looked at; try again later' };

/** The token of `Bearer TOKEN`, whose first word may be in any case. */
export function bearerToken(authorization: string | undefined): string | undefined {
  const [, token] = /^bearer +([^\s,]+) *$/i.exec(authorization ?? '') ?? [];
  return token;
}

type Answer = { readonly refusal: HttpRefusal | undefined; readonly untilMs: number };

/** What was answered about the tokens of late, the least recently asked for given up first. Stale answers still tell who was allowed. */
function createAnswers(clock: Clock) {
  const answers = new Map<string, Answer>();
  const keepNewest = (key: string, answer: Answer): void => {
    answers.delete(key);
    answers.set(key, answer);
    const oldest = answers.size > TOKENS_MAX ? answers.keys().next().value : undefined;
    if (oldest !== undefined) answers.delete(oldest);
  };
  return {
    find(key: string): { readonly refusal: HttpRefusal | undefined; readonly fresh: boolean } | undefined {
      const answer = answers.get(key);
      if (answer === undefined) return undefined;
      keepNewest(key, answer);
      return { refusal: answer.refusal, fresh: clock.now() < answer.untilMs };
    },
    keep(key: string, refusal: HttpRefusal | undefined): void {
      keepNewest(key, { refusal, untilMs: clock.now() + (refusal === undefined ? ALLOWED_MS : REFUSED_MS) });
    },
  };
}

async function judge(
  client: RawClient,
  token: string,
  attributes: AccessAttributes,
  signal: AbortSignal,
): Promise<HttpRefusal | undefined> {
  const user = await userOfToken(client, token, signal);
  if (user === undefined) return { status: 401, why: 'the bearer token is not valid in this cluster' };
  if (await userMay(client, user, attributes, signal)) return undefined;
  return { status: 403, why: forbidden(attributes) };
}

/** What the API server says is for the log; a stranger is told what the operator must look for. */
function unanswered(error: unknown): HttpRefusal {
  const how = error instanceof ApiError ? `answered ${error.code} ${error.reason}`.trimEnd() : 'did not answer';
  return { status: 503, why: `cannot find out who asks: the API server ${how}` };
}

/** With what whoever grants rights has to grant. */
export function forbidden(attributes: AccessAttributes): string {
  if ('nonResourceAttributes' in attributes) {
    const { path, verb } = attributes.nonResourceAttributes;
    return `the user of the bearer token may not ${verb} the path ${path}: grant nonResourceURLs [${path}], verbs [${verb}]`;
  }
  const { verb, group, resource, subresource, namespace } = attributes.resourceAttributes;
  const what = subresource === undefined ? resource : `${resource}/${subresource}`;
  return `the user of the bearer token may not ${verb} ${what} in namespace ${namespace}: grant apiGroups [${group}], resources [${what}], verbs [${verb}]`;
}
