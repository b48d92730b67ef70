import { stringify } from 'yaml';
import type { CoreEvent, DeepReadonly, Job, ObjectKey } from '../../shared/api/kubernetes.ts';
import { QUEUE_NAME_LABEL } from '../../shared/api/names.ts';
import type { KubeUser } from '../../shared/kube/access-reviews.ts';
import { ownerOf } from '../../shared/kube/user-identity.ts';
import type { Lister } from '../../shared/kube/indexer.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { TooMuchWaits } from '../../shared/runtime/fair-slots.ts';
import type { NamespaceIdentities } from '../api/namespace-identities.ts';
import { parseActionRequest } from './action-request.ts';
import { actionsOnJob } from './allowed-actions.ts';
import { eventsView } from './event-view.ts';
import { foundInTurn } from './fair-scheduler.ts';
import type { Feeds, FeedEvent } from './feed.ts';
import type { JobIndex } from './job-index.ts';
import { parseJobQuery } from './job-query.ts';
import type { JobTable } from './job-table.ts';
import { jobView, keptJobView, type CopyPods, type KeptJob } from './job-view.ts';
import { follow, liveReading, refusalToSee, toRead, toSee, type LiveReading, type LiveReadingDeps } from './live-reading.ts';
import { placeReading, type PlaceReading, type PlaceReadingDeps } from './place-reading.ts';
import { USAGE_GROUPS } from '../history/usage-report.ts';
import { formatWork, parseQualifiedName, workKey } from '../work-kind/qualified-name.ts';
import type { WorkKind } from '../work-kind/work-kind.ts';
import { rightsKey, viewerOf, type Rights } from './rights.ts';
import type { ClaimedIdentity, Found, Missing, Refused } from './rights-reader.ts';
import { HOURS_MAX, parseHours, parseMoment } from './time-line.ts';
import type { TimeLines } from './time-line-reading.ts';
import type { PastOverview, TimeLine } from './past-views.ts';
import type { ActionResult, EventsView, JobAction, JobPage, JobView, UsageGroup, UsageView, Viewer, WithActions } from './views.ts';

/** The stored history of Jobs that are gone. */
export type KeptJobs = {
  /** Jobs of the namespace that has this name now; `earlier`: also of namespaces that had the name before. */
  query(query: {
    readonly namespace: string;
    readonly name: string;
    /** `jobs`, or `RESOURCE.GROUP` of another kind. */
    readonly resource: string;
    readonly limit: number;
    readonly earlier: boolean;
  }): Promise<readonly KeptJob[]>;
  /** Jobs that ended since then, the latest first. */
  endedSince(sinceMs: number, limit: number): Promise<readonly KeptJob[]>;
  /**
   * Usage of Jobs of these namespaces in a period. `owner`: the user whose turn the sum takes. Rejects with TooMuchWaits where too many
   * wait.
   */
  usageOfAll(asked: {
    readonly namespaces: readonly string[] | 'All';
    readonly by: UsageGroup;
    readonly fromMs: number;
    readonly untilMs: number;
    readonly owner: string;
  }): Promise<UsageView>;
  podsOf(uid: string): Promise<readonly (CopyPods & { readonly copyUid: string })[]>;
  tail(uid: string, copyUid: string, pod: string): Promise<string | undefined>;
};

export type SessionDeps = {
  readonly kind: WorkKind<Job>;
  readonly index: JobIndex;
  readonly jobs: Lister<Job>;
  readonly feeds: Feeds;
  /** Reads one Job from the API server, as stored. */
  readonly readJob: (key: ObjectKey) => Promise<object | undefined>;
  /** Events about the object of that UID; undefined: the manager may not list them. */
  readonly readEvents: (namespace: string, uid: string) => Promise<readonly CoreEvent[] | undefined>;
  /** URL of a trace view, with `{traceId}` in it. */
  readonly traceUrl?: string | undefined;
  /** Absent: no history is stored. */
  readonly kept?: KeptJobs | undefined;
  readonly identities: Pick<NamespaceIdentities, 'of' | 'onGone'>;
  readonly table: JobTable;
  readonly timeLines: TimeLines;
  readonly clock: Clock;
} & PlaceReadingDeps &
  Pick<LiveReadingDeps, 'live'>;

/** All that one viewer may read. Every read is filtered by the viewer's rights; an object that the viewer may not see counts as absent. */
export interface Session extends PlaceReading, LiveReading {
  readonly user: KubeUser;
  readonly viewer: Viewer;
  follow(lastEventId: string | undefined, signal: AbortSignal): AsyncIterable<FeedEvent>;
  /** Never throws: a malformed query returns a problem. */
  jobs(parameters: URLSearchParams): Promise<Found<JobPage> | { readonly problem: string }>;
  job(namespace: string, name: string): Promise<Found<WithActions<JobView, JobAction>>>;
  explain(namespace: string, name: string): Promise<Found<object>>;
  yaml(namespace: string, name: string): Promise<Found<string>>;
  events(namespace: string, name: string): Promise<Found<EventsView>>;
  log(namespace: string, name: string, pod: string): Promise<Found<object>>;
  /** Never throws: a malformed query returns a problem. */
  timeLine(parameters: URLSearchParams): Promise<Found<TimeLine> | { readonly problem: string }>;
  /** The overview as it was then; a malformed moment returns a problem. */
  yardAt(parameters: URLSearchParams): Promise<Found<PastOverview> | { readonly problem: string }>;
  /** Usage of ended Jobs; a malformed query returns a problem. */
  usage(parameters: URLSearchParams): Promise<Found<UsageView> | { readonly problem: string }>;
  /** Carries out the action of the body. */
  act(body: unknown): Promise<Found<ActionResult> | { readonly problem: string }>;
}

/** A change of a viewer's rights takes effect within this time. */
const RECHECK_MS = 60_000;

const DAY_MS = 86_400_000;
const DAYS_SHOWN = 30;
const DAYS_MAX = 366;

function unlessTooMuchWaits(error: unknown): undefined {
  if (!(error instanceof TooMuchWaits)) throw error;
}

const WRONG_HOURS = `hours: write 1 to ${HOURS_MAX}`;

/** `address`: the source address of the request. */
export type OpenSession = (whom: ClaimedIdentity, address?: string) => Promise<Session | Refused>;

export function createSessions(deps: SessionDeps): OpenSession {
  const { rights, clock } = deps;
  return async (whom, address) => {
    const admitted = await rights.rightsOf(whom, address);
    if (admitted.kind === 'Refused') return admitted;
    const owner = ownerOf(admitted.user);
    return {
      user: admitted.user,
      viewer: viewerOf(
        admitted.user.username,
        admitted.rights,
        deps.act !== undefined,
        whom.untilMs === undefined ? undefined : whom.untilMs - clock.now(),
      ),
      follow: (lastEventId, signal) => followed(deps, whom, admitted.rights, lastEventId, signal),
      async jobs(parameters) {
        const query = parseJobQuery(parameters);
        return 'problem' in query ? query : foundInTurn(await deps.table.page(query, admitted.rights.namespaces, owner));
      },
      async act(body) {
        if (deps.act === undefined)
          return { kind: 'Refused', status: 403, why: 'nothing can be done here: the manager runs without --dashboard-actions' };
        const request = parseActionRequest(body);
        if ('problem' in request) return request;
        const result = await deps.act(admitted.user, request, address);
        return 'kind' in result ? result : { kind: 'Found', value: result };
      },
      ...pastReading(deps, admitted.rights, owner),
      ...jobReading(deps, admitted.user, admitted.rights),
      ...liveReading(deps, admitted.user, admitted.rights),
      ...placeReading(deps, admitted.user, admitted.rights),
    };
  };
}

/**
 * Ends when the rights of the viewer have changed, at once where a namespace is deleted. The page reconnects, and gets what its viewer
 * may see by then.
 */
async function* followed(
  { feeds, rights, identities, clock }: SessionDeps,
  whom: ClaimedIdentity,
  granted: Rights,
  lastEventId: string | undefined,
  signal: AbortSignal,
): AsyncGenerator<FeedEvent> {
  const changed = new AbortController();
  const key = rightsKey(granted);
  const recheck = async (): Promise<void> => {
    const now = await rights.rightsOf(whom);
    if (now.kind === 'Refused' ? now.status !== 503 : rightsKey(now.rights) !== key) return changed.abort(new Error('other rights'));
    timer = clock.schedule(() => void recheck(), RECHECK_MS);
  };
  let timer = clock.schedule(() => void recheck(), RECHECK_MS);
  const { namespaces } = granted;
  const another = (): void => changed.abort(new Error('a namespace is gone'));
  const unsubscribe = namespaces === 'All' ? undefined : identities.onGone((name) => namespaces.has(name) && another());
  if (namespaces instanceof Map && [...namespaces].some(([name, uid]) => uid !== (identities.of(name)?.uid ?? ''))) another();
  const both = AbortSignal.any([signal, changed.signal]);
  try {
    yield* feeds.follow(granted, lastEventId, both);
  } finally {
    timer.cancel();
    unsubscribe?.();
    changed.abort(new Error('nobody looks any more'));
  }
}

function pastReading(deps: SessionDeps, seen: Rights, owner: string): Pick<Session, 'timeLine' | 'yardAt' | 'usage'> {
  const { timeLines, kept, clock } = deps;
  return {
    async timeLine(parameters) {
      const hours = parseHours(parameters.get('hours'));
      return hours === undefined ? { problem: WRONG_HOURS } : foundInTurn(await timeLines.of(hours, seen, owner));
    },
    async yardAt(parameters) {
      const atMs = parseMoment(parameters.get('at'), clock.now());
      return atMs === undefined
        ? { problem: `at: write a moment of the last ${HOURS_MAX} hours as milliseconds since 1970` }
        : foundInTurn(await timeLines.yardAt(atMs, seen, owner));
    },
    async usage(parameters) {
      const by = USAGE_GROUPS.find((each) => each === parameters.get('by'));
      if (by === undefined) return { problem: `by: write one of ${USAGE_GROUPS.join(', ')}` };
      const days = Number(parameters.get('days') ?? DAYS_SHOWN);
      if (!Number.isInteger(days) || days < 1 || days > DAYS_MAX) return { problem: `days: write 1 to ${DAYS_MAX}` };
      if (kept === undefined) return { kind: 'Missing', what: 'no history is kept (--history-store)' };
      const { namespaces } = seen;
      const untilMs = clock.now();
      const names = namespaces === 'All' ? namespaces : [...namespaces.keys()].toSorted();
      const usage = kept.usageOfAll({ namespaces: names, by, fromMs: untilMs - days * DAY_MS, untilMs, owner });
      return foundInTurn(await usage.catch(unlessTooMuchWaits));
    },
  };
}

/** A Job that exists, and that is none of the manager's. */
const unmanaged = (kind: WorkKind<Job>, key: ObjectKey): Missing => ({
  kind: 'Missing',
  reason: 'NotManaged',
  what: `the ${formatWork(kind, key)} exists, and Switchyard does not run it: created without the label ${QUEUE_NAME_LABEL}, it runs on this cluster; add the label with the name of a LocalQueue to its manifest, then delete the ${kind.of(key.name).resource.kind} and create it again`,
});

function jobReading(deps: SessionDeps, user: KubeUser, seen: Rights): Pick<Session, 'job' | 'explain' | 'yaml' | 'events' | 'log'> {
  const { kind, index, jobs, kept, rights, explanations, readJob, readEvents, traceUrl, act } = deps;
  const missing = (key: ObjectKey): Missing => ({
    kind: 'Missing',
    what: `there is no ${formatWork(kind, key)}`,
  });
  const refusal = (namespace: string, name: string): Promise<Refused | undefined> =>
    refusalToSee({ rights, seen, user }, { namespace, name });

  /** The latest stored Job of a name, or the one of that UID. */
  const lastKept = async ({ namespace, name: qualified }: ObjectKey, uid?: string): Promise<KeptJob | undefined> => {
    const { qualifier: resource = 'jobs', name } = parseQualifiedName(qualified);
    const found = (await kept?.query({ namespace, name, resource, limit: 10, earlier: seen.namespaces === 'All' })) ?? [];
    return uid === undefined ? found[0] : found.find((each) => each.uid === uid);
  };

  return {
    async job(namespace, name) {
      const refused = await refusal(namespace, name);
      if (refused !== undefined) return refused;
      const key = { namespace, name };
      const job = jobs.get(key);
      const line = index.get(workKey(key));
      if (job !== undefined && line !== undefined) {
        const view = jobView(job, line, kind, (await kept?.podsOf(job.metadata.uid)) ?? [], traceUrl);
        return { kind: 'Found', value: { ...view, may: act === undefined ? [] : await actionsOnJob(rights, user, key) } };
      }
      const record = await lastKept(key);
      if (record === undefined) return (await readJob(key)) === undefined ? missing(key) : unmanaged(kind, key);
      return { kind: 'Found', value: { ...keptJobView(record, (await kept?.podsOf(record.uid)) ?? []), may: [] } };
    },
    async explain(namespace, name) {
      const refused = await refusal(namespace, name);
      if (refused !== undefined) return refused;
      const key = { namespace, name };
      const job = jobs.get(key);
      if (job === undefined || index.get(workKey(key)) === undefined) return missing(key);
      const explanation = await explanations.of(job as DeepReadonly<Job>, seen, ownerOf(user));
      return { kind: 'Found', value: explanation };
    },
    async events(namespace, name) {
      const refused =
        (await refusal(namespace, name)) ??
        (await rights.refusal(user, { resourceAttributes: { namespace, verb: 'list', group: '', resource: 'events' } }));
      if (refused !== undefined) return refused;
      const key = { namespace, name };
      const uid = jobs.get(key)?.metadata.uid ?? (await lastKept(key))?.uid;
      if (uid === undefined) return missing(key);
      const events = await readEvents(namespace, uid);
      return events === undefined
        ? { kind: 'Missing', what: 'the manager may not list Events on its cluster: its chart gives that right with dashboard.enabled' }
        : { kind: 'Found', value: eventsView(events, uid) };
    },
    async yaml(namespace, name) {
      // A Job's manifest has more than a list of Jobs shows: getting the Job must be allowed.
      const key = { namespace, name };
      const refused = await rights.refusal(user, toSee(key));
      if (refused !== undefined) return refused;
      const job = await readJob(key);
      if (job === undefined) return missing(key);
      const { metadata } = job as { readonly metadata?: object };
      return { kind: 'Found', value: stringify({ ...job, metadata: { ...metadata, name: parseQualifiedName(name).name } }) };
    },
    async log(namespace, name, pod) {
      const refused = (await refusal(namespace, name)) ?? (await rights.refusal(user, toRead(namespace, pod)));
      if (refused !== undefined) return refused;
      const uid = jobs.get({ namespace, name })?.metadata.uid ?? (await lastKept({ namespace, name }))?.uid;
      const copy = uid === undefined ? undefined : (await kept?.podsOf(uid))?.findLast(({ pods }) => pods.some((each) => each.pod === pod));
      const log = uid === undefined || copy === undefined ? undefined : await kept?.tail(uid, copy.copyUid, pod);
      if (log === undefined)
        return {
          kind: 'Missing',
          what: `no log of pod ${pod} is kept; while it runs, with your rights there: ${follow(kind, { namespace, name })}`,
        };
      return { kind: 'Found', value: { pod, cluster: copy?.cluster, log } };
    },
  };
}
