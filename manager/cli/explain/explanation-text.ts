import wrapAnsi from 'wrap-ansi';
import type { Basis } from '../../insight/estimate/run-time-sampler.ts';
import type { StartEstimate } from '../../insight/estimate/estimate-start.ts';
import type { Charged, ClusterHurdle, Explanation, FlavorHurdle, Holder, ReservationByTime, Waits } from '../../insight/explain/explain.ts';
import { failureMessage } from '../../api/last-failure.ts';
import { withPlainNames } from '../../work-kind/qualified-name.ts';
import type { SingleKind } from '../../work-kind/work-kind.ts';
import { plain } from '../plain-text.ts';
import type { Change, Quantities } from '../../insight/explain/smallest-changes.ts';

const WIDTH = 80;

/** An explanation in plain words, in lines of at most 80 columns. `kinds`: those beside Jobs of whose objects it may speak. */
export function explanationText(explanation: Explanation, kinds: readonly SingleKind[] = []): string {
  return `${linesOf(explanation)
    .flatMap((line) => wrapped(withPlainNames(kinds, line)))
    .join('\n')}\n`;
}

function linesOf(explanation: Explanation): string[] {
  const { job } = explanation;
  switch (explanation.kind) {
    case 'Finished':
      return [
        `${job} has finished: ${explanation.result}${explanation.at === undefined ? '' : ` at ${explanation.at}`}.`,
        ...(explanation.message === undefined ? [] : [`  ${explanation.message}`]),
        ...(explanation.failure === undefined ? [] : [`  ${plain(failureMessage(explanation.failure))}`]),
      ];
    case 'Admitted': {
      const { clusterQueue, cluster, since, requests, charged = requests, flavors, started } = explanation;
      return [
        `${job} is admitted to cluster ${cluster} since ${since}${started ? ', and has started' : ', and has not started yet'}.`,
        `  It holds ${quantities(charged)} of cluster queue ${clusterQueue}${flavorsOf(flavors)}${charged === requests ? '' : `, for pods that request ${quantities(requests)}`}.`,
      ];
    }
    case 'NotQueued':
      return [`${job} waits, and is in no queue (${explanation.reason}):`, `  ${explanation.message}`];
    case 'Waiting':
      return waitingLines(explanation);
  }
}

const flavorsOf = (flavors: Readonly<Record<string, string>>): string => {
  const names = [...new Set(Object.values(flavors))];
  return names.length === 0 ? '' : `, flavor ${names.join(' and ')}`;
};

function waitingLines(explanation: Waits): string[] {
  const { job, clusterQueue, priority, position, waiting, ahead, asks, outcome, message, reason, flavors, clusters, changes } = explanation;
  const { cohort, charges, estimatedStart, reservation } = explanation;
  return [
    `${job} waits in cluster queue ${clusterQueue}, place ${position + 1} of ${waiting}, priority ${priority}. It asks for ${quantities(asks)}.`,
    ...(charges === undefined ? [] : [chargesLine(charges)]),
    ...before(ahead, position),
    ...(cohort === undefined
      ? []
      : [
          `In cohort ${cohort.cohort}: place ${cohort.position + 1} of ${cohort.waiting}.`,
          ...before(
            cohort.ahead.map((each) => `${each.job} (${each.clusterQueue})`),
            cohort.position,
          ),
        ]),
    ...verdict(outcome, message, reason),
    ...(reservation === undefined ? [] : [reservationLine(reservation)]),
    ...(estimatedStart === undefined ? [] : estimateLines(estimatedStart)),
    'Quota:',
    ...flavors.map(flavorLine),
    'Clusters:',
    ...(clusters.length === 0 ? ['  there are none that you may see'] : clusters.flatMap(clusterLines)),
    ...(outcome === 'Next' ? [] : changeLines(changes)),
  ];
}

/** `The queue charges 4 cpu and 40 example.com/credits (40 for nvidia.com/mig-1g.5gb).` */
const chargesLine = (charges: readonly Charged[]): string =>
  `  The queue charges ${charges
    .filter(({ amount }) => amount !== '0')
    .map(({ resource, amount, from }) => {
      const parts = from.map(
        (part) => `${part.amount} for ${part.input}${part.multiplyBy === undefined ? '' : ` times ${part.multiplyBy}`}`,
      );
      return `${amount} ${resource}${parts.length === 0 ? '' : ` (${parts.join(', ')})`}`;
    })
    .join(', ')}, by its resourceTransformations.`;

function before(named: readonly string[], position: number): string[] {
  const more = position - named.length;
  return named.length === 0 ? [] : [`  Before it: ${named.join(', ')}${more > 0 ? `, and ${more} more` : ''}`];
}

const reservationLine = ({ cluster, expectedStart }: ReservationByTime): string =>
  expectedStart === undefined
    ? `Reserved for it: room on cluster ${cluster}, from now on, because too few run times are known to expect a start.`
    : `Reserved for it: room on cluster ${cluster} from ${expectedStart}. Jobs that are expected to end before go in front of it.`;

function estimateLines(estimate: StartEstimate): string[] {
  if (estimate.kind === 'Unknown') return [`No start can be estimated: ${estimate.message}.`];
  const { at, earliest, latest, confidence, basis, limits } = estimate;
  const until =
    latest === undefined
      ? `after ${toTheSecond(earliest)}, with no known upper limit`
      : `${toTheSecond(earliest)} to ${toTheSecond(latest)}`;
  return [
    `Estimated start: ${toTheSecond(at)}; ${Math.round(confidence * 100)} of 100: ${until}`,
    `  based on the run times of ${basis.map(basisText).join(', ')}, if no other Job arrives`,
    ...limits.map((limit) => `  ${limit}`),
  ];
}

const basisText = ({ runTimes, clusterQueue, family }: Basis): string =>
  `${runTimes === 1 ? '1 Job' : `${runTimes} Jobs`} ${family === undefined ? '' : `like ${family} `}${clusterQueue === undefined ? 'of all queues' : `of cluster queue ${clusterQueue}`}`;

const toTheSecond = (time: string): string => time.replace(/\.[0-9]+Z$/, 'Z');

function verdict(outcome: Waits['outcome'], message: string | undefined, reason: string | undefined): string[] {
  if (outcome === 'Next') return ['Nothing keeps it waiting: it is admitted next.'];
  if (outcome === 'Preempts') return [`It preempts other Jobs${message === undefined ? '' : `: ${message}`}`];
  return message === undefined
    ? ['It waits behind an earlier Job of its queue, or one like it was tried before it and does not fit.']
    : [`Why (${reason ?? ''}): ${message}`];
}

const flavorLine = ({ flavor, resource, asked, nominal, free, missing, problem, holders }: FlavorHurdle): string =>
  problem === undefined
    ? `  flavor ${flavor}, ${resource}: asks for ${asked}, ${free} free (nominal ${nominal})${missing === undefined ? '' : `, short of ${missing}`}${held(holders)}`
    : `  ${problem}`;

const clusterLines = ({ cluster, problem, shortOf, room }: ClusterHurdle): string[] => [
  `  ${cluster}: ${problem ?? 'would take it'}`,
  ...(shortOf !== undefined
    ? room.map(
        ({ resource, asked, capacity, free, holders }) => `    ${resource}: asks for ${asked}, ${free} of ${capacity} free${held(holders)}`,
      )
    : []),
];

const held = (holders: readonly Holder[]): string =>
  holders.length === 0 ? '' : `; held by ${holders.map(({ job, amount }) => `${job} (${amount})`).join(', ')}`;

const changeLines = (changes: readonly Change[]): string[] =>
  changes.length === 0
    ? ['No single change was found after which it would run now.']
    : ['It would run now if one of these were true (each was tried on a copy):', ...changes.map((change) => `  - ${changeText(change)}`)];

function changeText(change: Change): string {
  switch (change.kind) {
    case 'FewerPods':
      return `it asked for ${change.pods === 1 ? '1 pod' : `${change.pods} pods`} at once`;
    case 'LowerRequest':
      return change.perPod === '0'
        ? `its pods asked for no ${change.resource}`
        : `each of its pods asked for ${change.perPod} ${change.resource}`;
    case 'MoreQuota':
      return `cluster queue ${change.clusterQueue} had ${quantities(change.by)} more of flavor ${change.flavor}`;
    case 'MoreRoom':
      return `cluster ${change.cluster} had ${quantities(change.by)} more`;
    case 'ClusterOpens':
      return `cluster ${change.cluster} took Jobs`;
    case 'JobsEnd':
      return change.jobs.length === 1 ? `Job ${change.jobs[0]} ended` : `these Jobs ended (smallest found): ${change.jobs.join(', ')}`;
  }
}

const quantities = (amounts: Quantities): string =>
  Object.entries(amounts)
    .map(([resource, amount]) => `${amount} ${resource === 'pods' && amount === '1' ? 'pod' : resource}`)
    .join(', ');

/** Longer lines go on below, further in. */
function wrapped(line: string): string[] {
  const indent = ' '.repeat(line.length - line.trimStart().length);
  const [first = '', ...rest] = wrapAnsi(line.trimStart(), WIDTH - indent.length - 4, { hard: true }).split('\n');
  return [`${indent}${first}`, ...rest.map((each) => `${indent}    ${each}`)];
}
