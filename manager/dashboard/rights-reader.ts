import { userMay, type AccessAttributes, type KubeUser } from '../../shared/kube/access-reviews.ts';
import { forbidden } from '../../shared/kube/access-gate.ts';
import type { RawClient } from '../../shared/kube/client.ts';
import { createTokenUsers, TooManyNewTokens, type TokenUsers } from '../../shared/kube/token-users.ts';
import { digestOf, ownerOf, withoutCredential } from '../../shared/kube/user-identity.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { withDeadline } from '../../shared/runtime/deadline.ts';
import { createFairSlots, TooMuchWaits } from '../../shared/runtime/fair-slots.ts';
import type { HttpRefusal } from '../../shared/runtime/http-server.ts';
import { createKeptAnswers, type KeptAnswers } from '../../shared/runtime/kept-answers.ts';
import type { Logger } from '../../shared/runtime/logger.ts';
import type { NamespaceIdentities } from '../api/namespace-identities.ts';
import type { Rights, Seen } from './rights.ts';

/** The claimed identity of a caller: a token of the cluster, or a user whom a trusted proxy or an OpenID provider names. */
export type ClaimedIdentity = { /** The end of the session. */ readonly untilMs?: number } & (
  | { readonly kind: 'Token'; readonly token: string }
  | { readonly kind: 'User'; readonly user: KubeUser }
);

export type Admitted = { readonly kind: 'Admitted'; readonly user: KubeUser; readonly rights: Rights };
export type Refused = { readonly kind: 'Refused' } & HttpRefusal;
/** `NotManaged`: the object exists, and the manager does not run it; absent: it does not exist. */
export type Missing = { readonly kind: 'Missing'; readonly what: string; readonly reason?: 'NotManaged' };
/** The answer for a viewer who may see the object, if it exists. */
export type Found<T> = { readonly kind: 'Found'; readonly value: T } | Missing | Refused;

/**
 * Reads the rights of viewers by SubjectAccessReviews. Answers are cached for a minute by user, whatever tokens the user has, up to a
 * bound. At most an eighth of the reviews in flight are about one owner. Never rejects.
 */
export interface RightsReader {
  /** `address`: the source address of the request; unknown tokens of one address wait for each other. */
  rightsOf(whom: ClaimedIdentity, address?: string): Promise<Admitted | Refused>;
  /** Undefined: the user has the right. */
  refusal(user: KubeUser, attributes: AccessAttributes): Promise<Refused | undefined>;
  /** Like {@link refusal}, without the cache. */
  refusalNow(user: KubeUser, attributes: AccessAttributes): Promise<Refused | undefined>;
}

export type RightsReaderDeps = {
  /** A client of the API server that knows the tokens, without a rate limit of its own. */
  readonly client: RawClient;
  /** Names of the objects to review. */
  readonly namespaces: () => readonly string[];
  /** Rights in a namespace are not cached for another one that gets its name. */
  readonly identities: Pick<NamespaceIdentities, 'of' | 'gone'>;
  readonly queues: () => readonly string[];
  readonly clusters: () => readonly string[];
  readonly clock: Clock;
  readonly log: Logger;
};

const ANSWER_TTL_MS = 60_000;
const REFUSAL_TTL_MS = 10_000;
const VIEWERS_MAX = 1_024;
const ANSWERS_MAX = 8_192;
const ANSWER_MS = 5_000;
/** Reviews by name for each viewer without the right to all objects: the first of each kind by name. */
const REVIEWED_MAX = 500;
/** Concurrent reviews for one viewer. */
const CONCURRENCY = 8;
const REVIEWS = { all: 64, waitingMax: 64 };
/** Reviews of unknown tokens from one address. */
const NEW_TOKENS = { qps: 5, burst: 20 };

const list = (namespace: string, group: string, resource: string): AccessAttributes => ({
  resourceAttributes: { namespace, verb: 'list', group, resource },
});
const get = (group: string, resource: string, name: string): AccessAttributes => ({
  resourceAttributes: { namespace: '', verb: 'get', group, resource, name },
});
const GROUP = 'switchyard.dev';

export function createRightsReader(deps: RightsReaderDeps): RightsReader {
  return new ReviewedRights(deps);
}

class ReviewedRights implements RightsReader {
  readonly #deps: RightsReaderDeps;
  readonly #users: TokenUsers;
  readonly #reviews = createFairSlots(REVIEWS);
  readonly #viewers: KeptAnswers<{ readonly owner: string; readonly rights: Rights }>;
  readonly #answers: KeptAnswers<{ readonly owner: string; readonly isAllowed: boolean }>;

  constructor(deps: RightsReaderDeps) {
    this.#deps = deps;
    const { client, clock } = deps;
    this.#users = createTokenUsers({ client, newTokens: NEW_TOKENS, clock });
    this.#viewers = createKeptAnswers({ most: VIEWERS_MAX, keptMs: () => ANSWER_TTL_MS, ownerOf: ({ owner }) => owner, clock });
    this.#answers = createKeptAnswers({
      most: ANSWERS_MAX,
      keptMs: ({ isAllowed }) => (isAllowed ? ANSWER_TTL_MS : REFUSAL_TTL_MS),
      ownerOf: ({ owner }) => owner,
      clock,
    });
  }

  async rightsOf(whom: ClaimedIdentity, address = ''): Promise<Admitted | Refused> {
    const { identities, clock } = this.#deps;
    if (whom.untilMs !== undefined && whom.untilMs <= clock.now())
      return { kind: 'Refused', status: 401, why: 'the session has ended: sign in again' };
    try {
      const user = whom.kind === 'User' ? whom.user : await this.#users.of(whom.token, address);
      if (user === undefined) return { kind: 'Refused', status: 401, why: 'the token is not valid in this cluster' };
      const owner = ownerOf(user);
      const { rights } = await this.#viewers.of(digestOf([withoutCredential(user), identities.gone]), async () => ({
        owner,
        rights: await this.#lookUp(user),
      }));
      return { kind: 'Admitted', user, rights };
    } catch (error) {
      return this.#unanswered(error);
    }
  }

  async refusal(user: KubeUser, attributes: AccessAttributes): Promise<Refused | undefined> {
    try {
      return (await this.#may(user, attributes)) ? undefined : { kind: 'Refused', status: 403, why: forbidden(attributes) };
    } catch (error) {
      return this.#unanswered(error);
    }
  }

  async refusalNow(user: KubeUser, attributes: AccessAttributes): Promise<Refused | undefined> {
    try {
      return (await this.#review(user, attributes)) ? undefined : { kind: 'Refused', status: 403, why: forbidden(attributes) };
    } catch (error) {
      return this.#unanswered(error);
    }
  }

  #unanswered(error: unknown): Refused {
    if (error instanceof TooManyNewTokens || error instanceof TooMuchWaits) return { kind: 'Refused', status: 503, why: error.message };
    this.#deps.log.warn('nobody can be asked who looks at the dashboard and what he may see; he is not let in', { error });
    return { kind: 'Refused', status: 503, why: 'cannot find out who asks: the API server does not answer as it should' };
  }

  async #lookUp(user: KubeUser): Promise<Rights> {
    const { namespaces, queues, clusters } = this.#deps;
    const uids = new Map(namespaces().map((name) => [name, this.#uidOf(name)]));
    const [ofNamespaces, ofQueues, ofClusters] = await Promise.all([
      this.#seen(user, list('', 'batch', 'jobs'), [...uids.keys()], (namespace) => list(namespace, 'batch', 'jobs')),
      this.#seen(user, list('', GROUP, 'clusterqueues'), queues(), (name) => get(GROUP, 'clusterqueues', name)),
      this.#seen(user, list('', GROUP, 'workerclusters'), clusters(), (name) => get(GROUP, 'workerclusters', name)),
    ]);
    const seenNamespaces = ofNamespaces === 'All' ? ofNamespaces : new Map([...uids].filter(([name]) => ofNamespaces.has(name)));
    return { namespaces: seenNamespaces, queues: ofQueues, clusters: ofClusters };
  }

  async #seen(user: KubeUser, all: AccessAttributes, names: readonly string[], one: (name: string) => AccessAttributes): Promise<Seen> {
    if (await this.#may(user, all)) return 'All';
    const asked = names.toSorted().slice(0, REVIEWED_MAX);
    const found = new Set<string>();
    let next = 0;
    const askOn = async (): Promise<void> => {
      for (let name = asked[next++]; name !== undefined; name = asked[next++]) if (await this.#may(user, one(name))) found.add(name);
    };
    await Promise.all(Array.from({ length: CONCURRENCY }, askOn));
    return found;
  }

  async #may(user: KubeUser, attributes: AccessAttributes): Promise<boolean> {
    const [owner, reviewed] = [ownerOf(user), withoutCredential(user)];
    const { isAllowed } = await this.#answers.of(digestOf([reviewed, attributes, this.#uidIn(attributes)]), async () => ({
      owner,
      isAllowed: await this.#review(reviewed, attributes),
    }));
    return isAllowed;
  }

  #uidIn(attributes: AccessAttributes): string {
    return 'resourceAttributes' in attributes ? this.#uidOf(attributes.resourceAttributes.namespace) : '';
  }

  #uidOf(namespace: string): string {
    return this.#deps.identities.of(namespace)?.uid ?? '';
  }

  #review(user: KubeUser, attributes: AccessAttributes): Promise<boolean> {
    const { client, clock } = this.#deps;
    return this.#reviews.run(ownerOf(user), () =>
      withDeadline(clock, ANSWER_MS, undefined, (signal) => userMay(client, user, attributes, signal)),
    );
  }
}
