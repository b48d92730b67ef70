/** What a seed has in store beside the weather. */
import type { ClusterQueueSpec } from '../../../manager/api/cluster-queue.ts';
import { createDice, type Dice } from '../dice.ts';

/** What strikes in the midst of a story, each in its own way (`troubles.ts`). */
export const TROUBLES = [
  'manager cut off',
  'worker cut off',
  'server away',
  'kill',
  'clock step',
  'kubeconfig rotated',
  'kubeconfig repointed',
  'node lost',
  'worker restored',
  'home restored',
  'cluster made anew',
  'cluster given up',
  'rights withdrawn',
  'cut off for good',
  'cluster removed',
  'admission refused',
] as const;
/** What strikes only in searches for one defect: situations that storms of chance hardly ever bring about. */
export const AMBUSHES = ['dark after a create', 'killed after a create'] as const;
/** What users and webhooks of worker clusters do to copies (`marks.ts`). */
export const MARK_TROUBLES = ['marks edited', 'marks dropped', 'copy replaced'] as const;
/** A copy is deleted, and its pods are left (`kubectl delete --cascade=orphan`). */
const ORPHANED = 'copy orphaned';
/** The worker of one cluster dies and is not started again. */
const WORKER_GONE = 'worker gone';
/**
 * A worker that dies a moment before contact with its cluster is lost counts as alive, and so as fenced (docs/protocol.md): these do not
 * strike beside that.
 */
const LOSES_CONTACT: readonly TroubleKind[] = [
  'manager cut off',
  'server away',
  'cut off for good',
  'worker restored',
  'home restored',
  'cluster made anew',
  'cluster given up',
  'cluster removed',
  'kubeconfig repointed',
];
/** Each of them lasts for minutes, and nothing else strikes in its story: there it would be excused, or hide what is promised. */
export const SEQUENCES = [
  'fence raised while cut off',
  'clock ahead while cut off',
  'stopped after a resume',
  'cluster flaps',
  'answers late',
  'namespace not served',
] as const;
export type TroubleKind =
  | (typeof TROUBLES)[number]
  | (typeof AMBUSHES)[number]
  | (typeof MARK_TROUBLES)[number]
  | (typeof SEQUENCES)[number]
  | typeof ORPHANED
  | typeof WORKER_GONE
  | 'flavor deleted';

export type Plan = {
  /** Managers that elect one of them. */
  readonly managers: number;
  /** There is a second home, whose manager says to be the same one. */
  readonly rival: boolean;
  /** Worker clusters without the namespaces of the teams. */
  readonly bare: readonly string[];
  /** By how much the time of day of a machine is wrong, at most. */
  readonly clockErrorMaxMs: number;
  /** Share of the restores after which open watches say nothing any more instead of breaking. */
  readonly halfOpenRestores: number;
  /** What the ClusterQueues say beside their quota. */
  readonly queues: Partial<ClusterQueueSpec>;
  /** Whom Jobs may have suspended for their sake; undefined: nobody, and they have no priorities. */
  readonly preemption: Preemption | undefined;
  /** Chance of what Jobs take along; undefined: nothing. */
  readonly carries: Dice | undefined;
  /** Chance of what happens to objects of a described kind; undefined: there are Jobs alone. */
  readonly described: Dice | undefined;
  /** What may strike, and how likely each is to strike in one step. */
  readonly troubles: ReadonlyMap<TroubleKind, number>;
};

type Policies = NonNullable<ClusterQueueSpec['preemption']>;
export type Preemption = {
  readonly policies: Policies;
  /** The teams lend each other what they do not use. */
  readonly shared: boolean;
  /** Chance of its own, so that the other stories are told as they would be without it. */
  readonly dice: Dice;
};

/** In half of the stories in which sharing is not fair, and in none in which a defect is searched for. */
function drawPreemption(seed: number, bias: Bias | undefined): Preemption | undefined {
  const dice = createDice(seed + 1_000_003);
  if (bias !== undefined || dice.chance(0.5)) return undefined;
  const shared = dice.chance(0.5);
  const withinClusterQueue = dice.pick<NonNullable<Policies['withinClusterQueue']>>([
    'Never',
    'LowerPriority',
    'LowerPriority',
    'LowerOrNewerEqualPriority',
  ]);
  const reclaimWithinCohort = shared ? dice.pick<NonNullable<Policies['reclaimWithinCohort']>>(['Never', 'LowerPriority', 'Any']) : 'Never';
  const policy = reclaimWithinCohort === 'Never' ? 'Never' : dice.pick<'Never' | 'LowerPriority'>(['Never', 'LowerPriority']);
  return { policies: { withinClusterQueue, reclaimWithinCohort, borrowWithinCohort: { policy } }, shared, dice };
}

/** How much happens in a story. */
export type Size = {
  readonly workersMin: number;
  readonly workersMax: number;
  readonly stepsMin: number;
  readonly stepsMax: number;
  /** At the end nobody may write for so long. */
  readonly quietMs: number;
};
const BRIEF: Size = { workersMin: 2, workersMax: 3, stepsMin: 6, stepsMax: 16, quietMs: 60_000 };
const FULL: Size = { workersMin: 3, workersMax: 3, stepsMin: 15, stepsMax: 45, quietMs: 300_000 };
/** Of what comes after the end of each Job nothing is asked. */
const TRACED: Size = { workersMin: 2, workersMax: 2, stepsMin: 6, stepsMax: 16, quietMs: 0 };
/** The first seeds tell brief stories: those are what `npm test` has time for. */
const BRIEF_SEEDS = 100;
export const sizeOf = (seed: number, bias?: Bias): Size => (bias?.only === true ? TRACED : seed < BRIEF_SEEDS ? BRIEF : FULL);

/** What a search for one defect always plays, so that it takes tens of stories instead of thousands. */
export type Bias = {
  readonly troubles: readonly TroubleKind[];
  readonly rival?: true;
  readonly managers?: 1 | 2;
  /** Nothing goes wrong but what strikes. */
  readonly fair?: true;
  /** Nothing strikes but that; there are two worker clusters, and the story is over with its Jobs. */
  readonly only?: true;
  /** All Jobs have a finalizer of which nobody lets go, and many are deleted while they run. */
  readonly archived?: true;
  /** Jobs take ConfigMaps and Secrets along. */
  readonly carries?: true;
  /** There are objects of a described kind. */
  readonly described?: true;
};
const BIASED_RATE = 0.1;
/** It strikes only when a copy is made, or, of sequences, where one runs. */
const AMBUSH_RATE = 0.5;
/** What needs no rate of its own: it strikes as soon as it can. */
const AT_ONCE: readonly TroubleKind[] = [...AMBUSHES, ...SEQUENCES];

/** How the teams of a home share: not at all, or what is idle, with or without taking it back from one another. */
export type Sharing = 'Apart' | 'Fair' | 'FairWithPreemption';

/**
 * Of the seed itself and not of its dice, so that the stories of all other seeds stay what they are. A search for one defect has the teams
 * apart.
 */
export const sharingOf = (seed: number, bias: Bias | undefined): Sharing =>
  bias !== undefined || seed % 4 !== 3 ? 'Apart' : seed % 8 === 3 ? 'FairWithPreemption' : 'Fair';

/** What their ClusterQueues say then. */
export function sharedQueues(sharing: Sharing): Partial<ClusterQueueSpec> {
  if (sharing === 'Apart') return {};
  return {
    cohortName: 'yard',
    fairSharing: { weight: 2 },
    admissionScope: { admissionMode: 'UsageBasedAdmissionFairSharing' },
    ...(sharing === 'Fair' ? {} : { preemption: { reclaimWithinCohort: 'Any', withinClusterQueue: 'LowerPriority' } }),
  };
}

/** In a third of the stories, with dice of their own, so that the others are told as they would be without them. */
function drawMarkTroubles(seed: number): readonly (readonly [TroubleKind, number])[] {
  const dice = createDice(seed + 2_000_003);
  return dice.chance(0.33) ? MARK_TROUBLES.filter(() => dice.chance(0.6)).map((kind) => [kind, dice.pick([0.02, 0.05, 0.2])]) : [];
}

/** In a fifth of the stories, with dice of their own, too. */
function drawOrphans(seed: number): readonly (readonly [TroubleKind, number])[] {
  const dice = createDice(seed + 3_000_003);
  return dice.chance(0.2) ? [[ORPHANED, dice.pick([0.02, 0.05, 0.1])]] : [];
}

/** In a twelfth of the stories of full size, and so as well. */
const drawWorkerGone = (seed: number): boolean => seed >= BRIEF_SEEDS && createDice(seed + 4_000_003).chance(1 / 12);

/** In a quarter of the stories Jobs take ConfigMaps and Secrets along, with dice of their own. */
function drawCarrying(seed: number, bias: Bias | undefined): Dice | undefined {
  const dice = createDice(seed + 6_000_003);
  return dice.chance(CARRY_SHARE) && bias === undefined ? dice : bias?.carries === true ? dice : undefined;
}
const CARRY_SHARE = 1 / 4;

/** In a quarter of the stories there are objects of a described kind, with dice of their own. */
function drawDescribed(seed: number, bias: Bias | undefined): Dice | undefined {
  const dice = createDice(seed + 7_000_003);
  return dice.chance(DESCRIBED_SHARE) && bias === undefined ? dice : bias?.described === true ? dice : undefined;
}
const DESCRIBED_SHARE = 1 / 4;

const SEQUENCE_SHARE = 1 / 6;
export const storyOf = (troubles: readonly TroubleKind[]): Bias => ({ troubles, fair: true, only: true });

/** In a sixth of the stories of full size one sequence strikes, and nothing else. */
export function drawSequence(seed: number): Bias | undefined {
  const dice = createDice(seed + 5_000_003);
  return seed >= BRIEF_SEEDS && dice.chance(SEQUENCE_SHARE) ? storyOf([dice.pick(SEQUENCES)]) : undefined;
}

/** In half of the stories a few things go wrong, in some hardly any, in some nearly all. */
export function drawPlan(seed: number, dice: Dice, workers: readonly string[], bias?: Bias): Plan {
  const share = dice.pick([0, 0.2, 0.2, 0.4, 0.7]);
  const troubles = new Map<TroubleKind, number>();
  for (const kind of TROUBLES) {
    // Drawn for all of them, so that the stories of a seed are told apart by what strikes alone.
    const [strikes, rate] = [dice.chance(share), dice.pick([0.02, 0.05])];
    if (strikes && bias?.only !== true) troubles.set(kind, rate);
  }
  if (bias === undefined) for (const [kind, rate] of [...drawMarkTroubles(seed), ...drawOrphans(seed)]) troubles.set(kind, rate);
  if (bias === undefined && drawWorkerGone(seed)) troubles.set(WORKER_GONE, BIASED_RATE);
  for (const kind of bias?.troubles ?? []) troubles.set(kind, AT_ONCE.includes(kind) ? AMBUSH_RATE : BIASED_RATE);
  if (troubles.has(WORKER_GONE)) for (const kind of LOSES_CONTACT) troubles.delete(kind);
  const [managers, rival] = [dice.chance(0.25) ? 2 : 1, dice.chance(0.1)];
  return {
    managers: bias?.managers ?? managers,
    rival: bias?.rival ?? (rival && bias?.only !== true),
    bare: workers.filter(() => dice.chance(0.15)),
    clockErrorMaxMs: dice.pick([0, 0, 0, 5_000, 600_000]),
    halfOpenRestores: 0.3,
    queues: dice.chance(0.5)
      ? { startTimeout: dice.pick(['2m', '5m']), maxMoves: dice.pick([1, 3]), onCannotStart: dice.pick(['Wait', 'Wait', 'Fail']) }
      : {},
    // Who shares fairly has policies of his own.
    preemption: sharingOf(seed, bias) === 'Apart' ? drawPreemption(seed, bias) : undefined,
    carries: drawCarrying(seed, bias),
    described: drawDescribed(seed, bias),
    troubles,
  };
}
