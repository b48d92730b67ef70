import { ORIGIN_LABEL } from '../../../shared/api/names.ts';
import { NAMESPACES } from '../../../shared/api/resources.ts';
import { ApiError, isForbidden, isNotFound } from '../../../shared/kube/api-error.ts';
import { parseBoundedJson } from '../../../shared/kube/bounded-json.ts';
import type { RawClient, ReadClient } from '../../../shared/kube/client.ts';
import { AddressDeniedError } from '../../../shared/kube/guarded-connector.ts';
import { UnusableAnswer } from '../../../shared/kube/unusable-answer.ts';
import type { Clock, Timer } from '../../../shared/runtime/clock.ts';
import { withEither } from '../../../shared/runtime/tasks.ts';
import { isJsonObject } from '../../api/json-value.ts';
import type { ProbeFailure, ProbeRefusal, ProbeResult } from './cluster-health.ts';
import type { IdentityProblem } from './cluster-identities.ts';
import { withDeadline } from '../../../shared/runtime/deadline.ts';
import { sanitizeText } from '../../api/sanitize-text.ts';
import type { WorkKind } from '../../work-kind/work-kind.ts';

export type ClusterProbeOptions = {
  readonly kind: WorkKind;
  readonly client: ReadClient & RawClient;
  readonly origin: string;
  /** The only namespaces whose Jobs are listed; undefined: all. */
  readonly servedNamespaces: readonly string[] | undefined;
  /** Why the cluster with this identity must not be used; undefined records the identity and allows its use. */
  readonly identify: (uid: string) => Promise<IdentityProblem | undefined>;
  /** Called after each further five seconds without an answer, which counts as a failure until the answer comes. */
  readonly onLate: (failure: ProbeFailure) => void;
  readonly clock: Clock;
};

/** Probes whether a worker cluster can be used. */
export interface ClusterProbe {
  /** `faulty`: the cluster's lists are unusable, so that the probe only checks whether it answers. */
  ask(faulty: boolean, signal: AbortSignal): Promise<ProbeAnswer | ProbeFailure | ProbeRefusal>;
}
export type ProbeAnswer = Pick<ProbeResult & { kind: 'Answered' }, 'kind' | 'version' | 'roundTripMs'> & {
  /** The resourceVersion of its Jobs in `namespace`, ''  being all; undefined when they were not listed. */
  readonly resourceVersion: string | undefined;
  readonly namespace: string;
};

/** A call unanswered for this long is repeated beside the first, on a connection that may work where the other is dead. */
const LATE_MS = 5_000;
/** Timeout for an overloaded API server; the first answer to any of the calls counts. */
const PROBE_TIMEOUT_MS = 15_000;
/** Identity and version are read again after this time, and after each failed or refused probe. */
const FACTS_MS = 3_600_000;
const VERSION_MAX_BYTES = 16 * 1024;
const VERSION_LIMITS = { depth: 8, values: 256 };
const UID = /^[\w.-]{1,128}$/;

type Facts = { readonly version: string; readonly untilMs: number };

/**
 * A probe lists one copy. That needs what mirroring needs: valid credentials, the right to list Jobs, and a storage that answers. Of served
 * namespaces it asks the one that answered last; one that refuses is followed by the next, and refused is what all refuse. The first
 * probe, and one from time to time, also reads the identity of the cluster; nothing else is done there before it is known.
 */
export function createClusterProbe({ kind, client, origin, servedNamespaces, identify, onLate, clock }: ClusterProbeOptions): ClusterProbe {
  let facts: Facts | undefined;
  const namespaces = [...(servedNamespaces ?? [''])];

  const within = <T>(signal: AbortSignal, call: (signal: AbortSignal) => Promise<T>): Promise<T> =>
    withDeadline(clock, PROBE_TIMEOUT_MS, signal, (each) => firstAnswer(clock, onLate, each, call));
  const readVersion = async (signal: AbortSignal): Promise<string> =>
    versionIn(
      await within(signal, (each) => client.raw({ method: 'GET', path: '/version', signal: each, bodyMaxBytes: VERSION_MAX_BYTES })),
    );
  const listOne = async (signal: AbortSignal, refusals = 1): Promise<Pick<ProbeAnswer, 'namespace' | 'resourceVersion'>> => {
    const [namespace = '', ...others] = namespaces;
    const options = { namespace, labelSelector: `${ORIGIN_LABEL}=${origin}`, limit: 1 };
    try {
      const { resourceVersion } = await within(signal, (each) => client.list(kind.resource, { ...options, signal: each }));
      return { namespace, resourceVersion };
    } catch (error) {
      if (!isForbidden(error)) throw error;
      namespaces.splice(0, namespaces.length, ...others, namespace);
      if (refusals >= namespaces.length) throw error;
      return listOne(signal, refusals + 1);
    }
  };

  async function ask(faulty: boolean, signal: AbortSignal): Promise<ProbeAnswer | ProbeFailure | ProbeRefusal> {
    if (facts === undefined || facts.untilMs <= clock.now()) {
      const identity = await readIdentity(client, within, signal);
      if (identity.kind === 'Refused') return identity;
      const problem = await identify(identity.uid);
      if (problem !== undefined) return { kind: 'Refused', ...problem };
      facts = { version: await readVersion(signal), untilMs: clock.now() + FACTS_MS };
    }
    const askedAtMs = clock.now();
    let listed: Pick<ProbeAnswer, 'namespace' | 'resourceVersion'> = { namespace: '', resourceVersion: undefined };
    if (faulty) await readVersion(signal);
    else listed = await listOne(signal);
    return { kind: 'Answered', version: facts.version, roundTripMs: clock.now() - askedAtMs, ...listed };
  }

  return {
    async ask(faulty, signal) {
      const answer = await ask(faulty, signal).catch((error: unknown) => refusalOf(error) ?? failureOf(error));
      // The next answer may come from another cluster.
      if (answer.kind !== 'Answered') facts = undefined;
      return answer;
    },
  };
}

/** The first answer of several calls; a further call starts whenever the others are late. */
async function firstAnswer<T>(
  clock: Clock,
  onLate: ClusterProbeOptions['onLate'],
  signal: AbortSignal,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const over = new AbortController();
  const answer = Promise.withResolvers<T>();
  let waiting: Timer | undefined;
  const start = (): void => {
    withEither(signal, over.signal, call).then(answer.resolve, answer.reject);
    waiting = clock.schedule(() => {
      onLate(failureOf(new Error(`no answer within ${LATE_MS} ms`)));
      start();
    }, LATE_MS);
  };
  start();
  try {
    return await answer.promise;
  } finally {
    waiting?.cancel();
    over.abort(new Error('another call was answered'));
  }
}

type Identity = { readonly kind: 'Identity'; readonly uid: string } | ProbeRefusal;
async function readIdentity(
  client: ReadClient,
  within: <T>(signal: AbortSignal, call: (signal: AbortSignal) => Promise<T>) => Promise<T>,
  signal: AbortSignal,
): Promise<Identity> {
  try {
    const answer: unknown = await within(signal, (each) =>
      client.get(NAMESPACES, { namespace: '', name: 'kube-system' }, { signal: each }),
    );
    const metadata = isJsonObject(answer) ? answer['metadata'] : undefined;
    const uid = isJsonObject(metadata) ? metadata['uid'] : undefined;
    if (typeof uid !== 'string' || !UID.test(uid)) throw new UnusableAnswer('NotKubernetes', 'its namespace kube-system has no UID');
    return { kind: 'Identity', uid };
  } catch (error) {
    const unknown = (message: string): Identity => ({ kind: 'Refused', reason: 'IdentityUnknown', message });
    if (isNotFound(error)) return unknown('it has no namespace kube-system, whose UID tells one cluster from another');
    if (error instanceof ApiError && error.code === 403)
      return unknown(
        'which cluster it is cannot be read: the manager needs the verb get on the namespace kube-system there ' +
          `(a ClusterRole with resources [namespaces], resourceNames [kube-system]): ${sanitizeText(error.message)}`,
      );
    throw error;
  }
}

function refusalOf(error: unknown): ProbeRefusal | undefined {
  if (!(error instanceof ApiError)) return undefined;
  const said = sanitizeText(error.message);
  if (error.code === 401) return { kind: 'Refused', reason: 'Unauthorized', message: `it does not know the manager’s user: ${said}` };
  if (error.code === 403) return { kind: 'Refused', reason: 'Forbidden', message: `the manager may not list its Jobs there: ${said}` };
  return undefined;
}

function versionIn(body: string): string {
  const answer = parseBoundedJson(body, VERSION_LIMITS);
  if (!isJsonObject(answer)) throw new UnusableAnswer('NotKubernetes', 'its version is no JSON object');
  const { gitVersion } = answer;
  return typeof gitVersion === 'string' && /^[\w.+~-]{1,64}$/.test(gitVersion) ? gitVersion : '';
}

/** The innermost cause says most about a broken connection. */
export function failureOf(error: unknown): ProbeFailure {
  let inner = error;
  while (inner instanceof Error && inner.cause !== undefined) inner = inner.cause;
  if (inner instanceof AddressDeniedError)
    return { kind: 'Failed', reason: 'AddressDenied', message: `${inner.message} with the manager's flag --worker-address-deny` };
  const message = sanitizeText(inner instanceof Error ? inner.message : String(inner));
  if (inner instanceof UnusableAnswer) return { kind: 'Failed', reason: inner.fault, message };
  // An API server never redirects.
  if (inner instanceof ApiError && inner.code < 400) return { kind: 'Failed', reason: 'NotKubernetes', message };
  return { kind: 'Failed', reason: 'ConnectionFailed', message };
}
