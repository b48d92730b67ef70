import type { ClusterItem, LocalQueueNode, QueueNode } from '../views.ts';
import { useFlow } from './flow.tsx';
import { ADMITTED, Causes, HealthDot, Meter, Notice, JobChips, QUEUED } from './parts.tsx';
import { clusterAt, cohortAt, HOURS_SHOWN, jobsAt, queueAt } from './place.ts';
import { entry, overview } from './state.tsx';
import { PastOverviewView, OverviewTimeLine } from './time-line.tsx';
import { count } from './words.ts';
import { clustersIn, endedIn, localQueuesIn, treeOf, waitingIn, type TreeNode } from './overview-model.ts';

/** Clusters as tracks, queues as the tree that feeds them, and the Jobs on their way. */
export function OverviewPage({ hours = HOURS_SHOWN, at }: { readonly hours?: number | undefined; readonly at?: number | undefined }) {
  const all = overview.value ?? new Map();
  const root = useFlow(all);
  const tree = treeOf(all);
  const alone = localQueuesIn(all);
  const clusters = clustersIn(all);
  const viewer = entry.value.kind === 'Inside' ? entry.value.viewer : undefined;
  const seesNothing = tree.length === 0 && clusters.length === 0 && alone.length === 0;
  if (seesNothing && viewer !== undefined && viewer.namespaces !== 'All' && viewer.namespaces.length === 0)
    return (
      <Notice isPage kind="none" title="There is nothing here that you may see" about="Jobs are shown to those who may list them in a namespace (apiGroups [batch], resources [jobs], verbs [list]); queues and clusters to those who may get them." />
    );
  return (
    <div class="yard" ref={root}>
      <h1 class="hidden">Yard</h1>
      <OverviewTimeLine hours={hours} atMs={at} />
      {at === undefined ? <LiveOverview /> : <PastOverviewView hours={hours} atMs={at} />}
    </div>
  );
}

function LiveOverview() {
  const all = overview.value ?? new Map();
  const tree = treeOf(all);
  const alone = localQueuesIn(all);
  const clusters = clustersIn(all);
  const ended = endedIn(all)?.jobs ?? [];
  const viewer = entry.value.kind === 'Inside' ? entry.value.viewer : undefined;
  return (
    <>
      <section class="queues" aria-labelledby="queues-head">
        <h2 id="queues-head">Queues</h2>
        {tree.map((node) => (
          <Cohort key={node.cohort?.name ?? ''} node={node} />
        ))}
        {alone.map((queue) => (
          <LocalQueue key={queue.key} queue={queue} />
        ))}
        {tree.length === 0 && alone.length === 0 && (
          <Notice
            kind="none"
            title={viewer?.queues === 'All' ? 'There are no queues yet' : 'You may see no queues'}
            about={viewer?.queues === 'All' ? 'A ClusterQueue gives quota to Jobs; examples/queues.yaml has one.' : 'They are shown to those who may get clusterqueues, or list Jobs in the namespace of a LocalQueue.'}
          />
        )}
      </section>
      <section class="clusters" aria-labelledby="clusters-head">
        <h2 id="clusters-head">Clusters</h2>
        {clusters.map((cluster) => (
          <ClusterRow key={cluster.name} cluster={cluster} />
        ))}
        {clusters.length === 0 && (
          <Notice
            kind="none"
            title={viewer?.clusters === 'All' ? 'No cluster has joined yet' : 'You may see no clusters'}
            about={viewer?.clusters === 'All' ? 'switchyard clusters join CONTEXT makes one a worker cluster.' : 'They are shown to those who may get workerclusters.'}
          />
        )}
      </section>
      <section class="ended" aria-labelledby="ended-head">
        <h2 id="ended-head">
          Arrived <a href={jobsAt({ state: 'Complete,Failed', order: '-ended' })}>all that ended</a>
        </h2>
        <JobChips jobs={ended} empty="Nothing has ended that is still there." />
      </section>
    </>
  );
}

function Cohort({ node }: { readonly node: TreeNode }) {
  const { cohort, queues, children } = node;
  const inside = (
    <>
      {queues.map((queue) => (
        <Queue key={queue.name} queue={queue} />
      ))}
      {children.map((child) => (
        <Cohort key={child.cohort?.name ?? ''} node={child} />
      ))}
    </>
  );
  if (cohort === undefined) return inside;
  return (
    <div class="cohort">
      <div class="cohort-head">
        <span class="word">cohort</span>{' '}
        <a href={cohortAt(cohort.name)}>
          <b>{cohort.name}</b>
        </a>
        <div class="meters">
          {cohort.quota.slice(0, 3).map((fill) => (
            <Meter key={fill.resource} fill={fill} label={fill.resource} />
          ))}
        </div>
      </div>
      <div class="cohort-inside">{inside}</div>
    </div>
  );
}

function Queue({ queue }: { readonly queue: QueueNode }) {
  const shown = queue.first;
  const flavors = new Set(queue.quota.map(({ flavor }) => flavor)).size;
  return (
    <article class="queue" aria-label={`Queue ${queue.name}`}>
      <header>
        <h3>
          <a href={queueAt(queue.name)}>{queue.name}</a>
        </h3>
        <span class="sum">
          <WaitingCount count={queue.waiting} href={jobsAt({ state: QUEUED, clusterQueue: queue.name })} />
          <span class="soft">
            {' '}
            ·{' '}
            {queue.admitted === 0 ? (
              'none admitted'
            ) : (
              <a href={jobsAt({ state: ADMITTED, clusterQueue: queue.name })}>{count(queue.admitted, 'admitted', 'admitted')}</a>
            )}
          </span>
        </span>
      </header>
      {queue.problem !== undefined && <p class="problem">{queue.problem}</p>}
      <div class="meters">
        {queue.quota.map((fill) => (
          <Meter key={`${fill.flavor}/${fill.resource}`} fill={fill} label={flavors > 1 ? `${fill.resource} · ${fill.flavor}` : fill.resource} />
        ))}
      </div>
      <Causes causes={queue.causes} query={{ clusterQueue: queue.name }} />
      <Waiting jobs={shown} count={queue.waiting} more={jobsAt({ state: QUEUED, clusterQueue: queue.name })} />
    </article>
  );
}

function Waiting({ jobs, count: all, more }: { readonly jobs: QueueNode['first']; readonly count: number; readonly more: string }) {
  if (jobs.length === 0) return null;
  return (
    <JobChips jobs={jobs} isSiding>
      {all > jobs.length && (
        <a class="more" href={more}>
          and {(all - jobs.length).toLocaleString('en')} more
        </a>
      )}
    </JobChips>
  );
}

function WaitingCount({ count: number, href }: { readonly count: number; readonly href: string }) {
  return number === 0 ? (
    <>nothing waits</>
  ) : (
    <a class="amber" href={href}>
      <b>{count(number, 'waits', 'wait')}</b>
    </a>
  );
}

function LocalQueue({ queue }: { readonly queue: LocalQueueNode }) {
  return (
    <article class="queue" aria-label={`Local queue ${queue.key}`}>
      <header>
        <h3>{queue.key}</h3>
        <span class="sum">
          <WaitingCount count={queue.waiting} href={jobsAt(waitingIn(queue.key))} />
          <span class="soft"> · to {queue.clusterQueue}</span>
        </span>
      </header>
      <Causes causes={queue.causes} query={waitingIn(queue.key)} />
      <Waiting jobs={queue.first} count={queue.waiting} more={jobsAt(waitingIn(queue.key))} />
    </article>
  );
}

function ClusterRow({ cluster }: { readonly cluster: ClusterItem }) {
  const { name, health, state, problem, roundTripMs, version, fills, jobs, running } = cluster;
  return (
    <article class={`track ${health.toLowerCase()}`} aria-label={`Cluster ${name}`}>
      <header>
        <HealthDot health={health} label={state} />
        <h3>
          <a href={clusterAt(name)}>{name}</a>
        </h3>
        <span class="soft">
          {state === 'Ready' ? '' : `${state} · `}
          <a href={jobsAt({ cluster: name, state: ADMITTED })}>{count(jobs, 'Job')}</a>
          {roundTripMs === undefined ? '' : ` · ${roundTripMs} ms`}
          {version === undefined ? '' : ` · ${version}`}
        </span>
      </header>
      {problem !== undefined && <p class="problem">{problem}</p>}
      <div class="meters">
        {fills.slice(0, 4).map((fill) => (
          <Meter key={fill.resource} fill={fill} label={fill.resource} />
        ))}
      </div>
      <div class="rails">
        <JobChips jobs={running} empty="no Job of yours here">
          {jobs > running.length && (
            <a class="more" href={jobsAt({ cluster: name, state: ADMITTED })}>
              and {(jobs - running.length).toLocaleString('en')} more
            </a>
          )}
        </JobChips>
      </div>
    </article>
  );
}
