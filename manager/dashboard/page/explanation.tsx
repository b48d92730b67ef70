import { KeyName, Notice } from './parts.tsx';
import { clusterAt, jobAt, queueAt } from './place.ts';
import { serverNow } from './state.tsx';
import { count, duration, quantity } from './words.ts';

type Amounts = Readonly<Record<string, string>>;
type Holder = { readonly job: string; readonly amount: string };
type Change =
  | { readonly kind: 'FewerPods'; readonly pods: number }
  | { readonly kind: 'LowerRequest'; readonly resource: string; readonly perPod: string }
  | { readonly kind: 'MoreQuota'; readonly clusterQueue: string; readonly flavor: string; readonly by: Amounts }
  | { readonly kind: 'MoreRoom'; readonly cluster: string; readonly by: Amounts }
  | { readonly kind: 'ClusterOpens'; readonly cluster: string }
  | { readonly kind: 'JobsEnd'; readonly jobs: readonly string[] };
type Reservation = { readonly cluster: string; readonly expectedStart?: string };
type Estimate =
  | { readonly kind: 'Unknown'; readonly message: string }
  | {
      readonly kind: string;
      readonly at: string;
      readonly earliest: string;
      readonly latest?: string;
      readonly confidence: number;
      readonly basis: readonly { readonly runTimes: number }[];
    };

/** As docs/explain.md has it (`switchyard explain -o json`). */
export type ShownExplanation =
  | { readonly kind: 'Unexplained'; readonly message: string }
  | { readonly kind: 'NotQueued'; readonly reason: string; readonly message: string }
  | { readonly kind: 'Finished' | 'Admitted' }
  | {
      readonly kind: 'Waiting';
      readonly clusterQueue: string;
      readonly priority: number;
      readonly position: number;
      readonly waiting: number;
      readonly ahead: readonly string[];
      readonly cohort?: { readonly cohort: string; readonly position: number; readonly waiting: number };
      readonly asks: Amounts;
      readonly outcome: 'Next' | 'Preempts' | 'Waits';
      readonly reason?: string;
      readonly message?: string;
      readonly flavors: readonly {
        readonly flavor: string;
        readonly resource: string;
        readonly asked: string;
        readonly nominal: string;
        readonly free: string;
        readonly missing?: string;
        readonly problem?: string;
        readonly holders: readonly Holder[];
      }[];
      readonly clusters: readonly {
        readonly cluster: string;
        readonly problem?: string;
        readonly shortOf?: readonly string[];
        readonly room: readonly { readonly resource: string; readonly asked: string; readonly free: string; readonly capacity: string; readonly holders: readonly Holder[] }[];
      }[];
      readonly changes: readonly Change[];
      readonly reservation?: Reservation;
      readonly estimatedStart?: Estimate;
    };

/** Why it waits, and what would make it run. */
export function ExplanationView({ told, isNever }: { readonly told: ShownExplanation; readonly isNever: boolean }) {
  switch (told.kind) {
    case 'Unexplained':
      return <Notice kind="none" title="It is not explained here" about={told.message} />;
    case 'NotQueued':
      return (
        <section class="card verdict">
          <h2>It is in no queue</h2>
          <p class="said">
            <b>{told.reason}. </b>
            {told.message}
          </p>
        </section>
      );
    case 'Finished':
    case 'Admitted':
      return null;
    case 'Waiting':
      return <Waits told={told} isNever={isNever} />;
  }
}

type Waiting = Extract<ShownExplanation, { kind: 'Waiting' }>;

function Waits({ told, isNever }: { readonly told: Waiting; readonly isNever: boolean }) {
  return (
    <>
      <Verdict told={told} isNever={isNever} />
      {told.outcome !== 'Next' && <Changes changes={told.changes} />}
      <Quota flavors={told.flavors} />
      {told.clusters.length > 0 && <Clusters clusters={told.clusters} />}
    </>
  );
}

function Verdict({ told, isNever }: { readonly told: Waiting; readonly isNever: boolean }) {
  const { clusterQueue, position, waiting, ahead, cohort, asks, outcome, message, reason, estimatedStart, reservation } = told;
  const more = position - ahead.length;
  return (
    <section class="card verdict">
      <h2>{outcome === 'Next' ? 'Nothing stands in its way' : outcome === 'Preempts' ? 'Others give their place up for it' : isNever ? 'Why it can never run' : 'Why it waits'}</h2>
      <p class="said">
        {outcome === 'Next' ? 'It is admitted next.' : (message ?? 'It waits behind an earlier Job of its queue, or one like it was tried before it and does not fit.')}
        {reason !== undefined && <span class="reason">{reason}</span>}
      </p>
      <p class="soft">
        Place {position + 1} of {waiting} in <a href={queueAt(clusterQueue)}>{clusterQueue}</a>
        {cohort !== undefined && `, ${cohort.position + 1} of ${cohort.waiting} in cohort ${cohort.cohort}`}. It asks for {amounts(asks)}.
      </p>
      {ahead.length > 0 && (
        <p class="soft">
          Before it: <Names jobs={ahead} />
          {more > 0 && `, and ${more} more`}.
        </p>
      )}
      {reservation !== undefined && <Reserved reservation={reservation} />}
      {estimatedStart !== undefined && !('message' in estimatedStart && message !== undefined && estimatedStart.message.endsWith(message)) && <Estimated estimate={estimatedStart} />}
    </section>
  );
}

function Changes({ changes }: Pick<Waiting, 'changes'>) {
  return (
    <section class="card changes">
      <h2>It would run now if</h2>
      {changes.length === 0 ? (
        <p class="soft">No single change was found after which it would.</p>
      ) : (
        <ul>
          {changes.map((change, index) => (
            <li key={index}>
              <ChangeWords change={change} />
            </li>
          ))}
        </ul>
      )}
      {changes.length > 0 && <p class="soft">Each of these was tried on a copy of all that admission decides on.</p>}
    </section>
  );
}

function Quota({ flavors }: Pick<Waiting, 'flavors'>) {
  return (
    <section class="card">
      <h2>Quota</h2>
      <table>
        <thead>
          <tr>
            <th>Flavor</th>
            <th>Resource</th>
            <th class="num">Asks for</th>
            <th class="num">Free</th>
            <th class="num">Nominal</th>
            <th>Held by</th>
          </tr>
        </thead>
        <tbody>
          {flavors.map(({ flavor, resource, asked, free, nominal, missing, problem, holders }) => (
            <tr key={`${flavor}/${resource}`}>
              <td>{flavor}</td>
              <td>{resource}</td>
              <td class="num">{quantity(asked)}</td>
              <td class={missing === undefined ? 'num' : 'num red'} title={missing === undefined ? undefined : `short of ${missing}`}>
                {quantity(free)}
              </td>
              <td class="num">{quantity(nominal)}</td>
              <td class="wide">{problem ?? <Holders holders={holders} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Clusters({ clusters }: Pick<Waiting, 'clusters'>) {
  return (
    <section class="card">
      <h2>Clusters</h2>
      <ul class="hurdles">
        {clusters.map(({ cluster, problem, shortOf, room }) => (
          <li key={cluster} class={problem === undefined ? 'good' : 'bad'}>
            <b>{cluster}</b> {problem ?? 'would take it'}
            {shortOf !== undefined &&
              room.map(({ resource, asked, free, capacity, holders }) => (
                <p key={resource} class="soft">
                  {resource}: asks for {quantity(asked)}, {quantity(free)} of {quantity(capacity)} free{holders.length > 0 && '; '}
                  <Holders holders={holders} />
                </p>
              ))}
          </li>
        ))}
      </ul>
    </section>
  );
}

function within(time: string): string {
  const ms = Date.parse(time) - serverNow.value;
  return ms <= 0 ? 'now' : `in ${duration(ms)}`;
}

function Reserved({ reservation: { cluster, expectedStart } }: { readonly reservation: Reservation }) {
  const link = <a href={clusterAt(cluster)}>{cluster}</a>;
  return expectedStart === undefined ? (
    <p class="soft">Room on {link} is reserved for it from now on, because too few run times are known to expect a start.</p>
  ) : (
    <p class="soft">
      Room on {link} is reserved for it <b>{within(expectedStart)}</b>. Jobs that are expected to end before go in front of it.
    </p>
  );
}

function Estimated({ estimate }: { readonly estimate: Estimate }) {
  if (!('at' in estimate)) return <p class="soft">When it starts cannot be told: {estimate.message}.</p>;
  return (
    <p class="estimate">
      Likely to start <b>{within(estimate.at)}</b>
      <span class="soft">
        {' '}
        ({Math.round(estimate.confidence * 100)} of 100: {within(estimate.earliest)}
        {estimate.latest === undefined ? ' or later' : ` to ${within(estimate.latest)}`})
      </span>
    </p>
  );
}

/** Not everything that holds something is a Job with a page. */
function JobLink({ job }: { readonly job: string }) {
  if (!/^[^/ ]+(\/[^/ .]+\.[^/ ]+)?\/[^/ ]+$/.test(job)) return <>{job}</>;
  return (
    <a href={jobAt(job)}>
      <KeyName of={job} />
    </a>
  );
}

function Names({ jobs }: { readonly jobs: readonly string[] }) {
  return (
    <>
      {jobs.map((job, index) => (
        <span key={`${index}`}>
          {index > 0 && ', '}
          <JobLink job={job} />
        </span>
      ))}
    </>
  );
}

function Holders({ holders }: { readonly holders: readonly Holder[] }) {
  return (
    <>
      {holders.map(({ job, amount }, index) => (
        <span key={`${index}`}>
          {index > 0 && ', '}
          <JobLink job={job} /> <span class="soft">{quantity(amount)}</span>
        </span>
      ))}
    </>
  );
}

const amounts = (all: Amounts): string =>
  Object.entries(all)
    .map(([resource, amount]) => (resource === 'pods' ? count(Number(amount), 'pod') : `${quantity(amount)} ${resource}`))
    .join(', ');

function ChangeWords({ change }: { readonly change: Change }) {
  switch (change.kind) {
    case 'FewerPods':
      return (
        <>
          it asked for <b>{change.pods === 1 ? '1 pod' : `${change.pods} pods`}</b> at once
        </>
      );
    case 'LowerRequest':
      return change.perPod === '0' ? (
        <>
          its pods asked for <b>no {change.resource}</b>
        </>
      ) : (
        <>
          each of its pods asked for{' '}
          <b>
            {quantity(change.perPod)} {change.resource}
          </b>
        </>
      );
    case 'MoreQuota':
      return (
        <>
          queue <a href={queueAt(change.clusterQueue)}>{change.clusterQueue}</a> had <b>{amounts(change.by)}</b> more of flavor {change.flavor}
        </>
      );
    case 'MoreRoom':
      return (
        <>
          cluster {change.cluster} had <b>{amounts(change.by)}</b> more
        </>
      );
    case 'ClusterOpens':
      return (
        <>
          cluster <b>{change.cluster}</b> took Jobs
        </>
      );
    case 'JobsEnd':
      return (
        <>
          {change.jobs.length === 1 ? 'this Job ended: ' : 'these Jobs ended: '}
          <Names jobs={change.jobs} />
        </>
      );
  }
}
