/**
 * What the stores of a simulated installation show of the protocol (docs/protocol.md), Job by Job: each state of what
 * test/model/one-copy.pml calls visible, in the order of the writes. Read from what is stored alone; no program is asked what it thinks.
 */
import type { Job, Pod } from '../../../shared/api/kubernetes.ts';
import { ADMISSION_ANNOTATION, DISPATCH_EPOCH_ANNOTATION } from '../../../shared/api/names.ts';
import { findCondition, hasTrueCondition } from '../../../shared/kube/conditions.ts';
import { controllerUidOf, hasEnded, isOver } from '../../support/invariants/invariant.ts';
import { originUidOf } from './marks.ts';
import { AMBUSHES, type Bias } from './plan.ts';
import { HOME, type Onlooker } from './yard.ts';

/**
 * What strikes in the stories that are replayed: what the model has, in a world in which caches are up to date. In half of the stories
 * there is an ambush as well; `more` strikes in all of them.
 */
export const tracedStory = (seed: number, more: Bias['troubles'] = []): Bias => ({
  troubles: ['manager cut off', 'kill', ...AMBUSHES.filter((_, at) => at === seed % (2 * AMBUSHES.length)), ...more],
  fair: true,
  only: true,
});

/** What the model has of a Job: at most so many clusters, and so many placements. Whatever goes beyond that ends its trace. */
const CLUSTERS_MAX = 2;
const EPOCHS_MAX = 3;

/** As one-copy.pml numbers what a Job says of its present placement. */
const Told = { Nothing: 0, Dispatched: 1, CopyLost: 2, AtRest: 3, FencedOff: 4, Refused: 5 } as const;
type Told = (typeof Told)[keyof typeof Told];

type Place = { there: boolean; epoch: number; suspended: boolean; saysSuspended: boolean; ended: boolean; runs: boolean };
type Course = {
  epoch: number;
  place: number;
  told: Told;
  suspended: boolean;
  done: boolean;
  readonly places: readonly Place[];
  /** Names of the clusters, in the order in which it was recorded on them. */
  readonly clusters: string[];
  /** The `since` of its record. */
  since: string;
  isOver: boolean;
  readonly states: number[][];
};

/** The visible states of one Job, each with one change to the one before. */
export type Trace = { readonly job: string; readonly states: readonly (readonly number[])[] };

export interface TraceRecorder extends Onlooker {
  traces(): readonly Trace[];
}

export function createTraceRecorder(): TraceRecorder {
  const courses = new Map<string, Course>();
  /** By cluster, namespace and name: whose copy is there, and the UID that it has. */
  const copies = new Map<string, { readonly origin: string; readonly uid: string }>();
  /** By the UID of the copy, those that are gone as well: pods outlive them. */
  const origins = new Map<string, string>();
  const homes = new Map<string, string>();
  /** Pods that have not ended, by cluster, namespace and name: the Job that they are of. */
  const pods = new Map<string, string>();
  /** Outages of the ways of managers, by cluster, and programs that are dead. */
  const cuts = new Map<string, number>();
  const dead = new Set<string>();
  /** Clusters on which a user edits a copy, or deletes one, which is not gone yet. */
  const edited = new Set<string>();
  const orphaned = new Set<string>();

  /**
   * Which faults may strike now: the leader dies or is cut off from its home; each cluster is cut off, and its worker is started again; a
   * user edits a copy there, and deletes one.
   */
  const faultsFor = ({ clusters }: Course): readonly boolean[] => [
    (cuts.get(HOME) ?? 0) > 0 || [...dead].some((name) => name.startsWith('manager')),
    ...Array.from({ length: CLUSTERS_MAX }, (_, at) => clusters[at]).flatMap((name = '') => [
      (cuts.get(name) ?? 0) > 0,
      dead.has(`worker-${name}`),
    ]),
    ...Array.from({ length: CLUSTERS_MAX }, (_, at) => clusters[at]).flatMap((name = '') => [edited.has(name), orphaned.has(name)]),
  ];
  const change = (course: Course, update: () => unknown): void => {
    update();
    const next = [...visible(course), ...faultsFor(course).map(Number)];
    if (String(next) !== String(course.states.at(-1))) course.states.push(next);
  };
  const faultsChanged = (): void => {
    for (const course of courses.values()) if (!course.isOver) change(course, () => undefined);
  };
  const countCut = (cluster: string, by: number): void => {
    cuts.set(cluster, (cuts.get(cluster) ?? 0) + by);
    faultsChanged();
  };

  function atHome(key: string, text: string | undefined): void {
    if (text === undefined) return void homes.delete(key);
    const job = JSON.parse(text) as Job;
    const { uid } = job.metadata;
    const course = courses.get(uid) ?? begin();
    if (!courses.has(uid)) change(course, () => undefined);
    courses.set(uid, course);
    homes.set(key, uid);
    if (course.isOver) return;
    const record = recordOf(job);
    if (job.metadata.deletionTimestamp !== undefined || record === undefined || !isWithin(course, record)) {
      course.isOver = true;
      return;
    }
    change(course, () => undefined);
    const isNew = record.epoch !== course.epoch || record.since !== course.since;
    change(course, () => {
      Object.assign(course, { epoch: record.epoch, since: record.since, suspended: job.spec.suspend === true });
      course.place = Math.max(0, course.clusters.indexOf(record.cluster));
      if (isNew) course.told = Told.Nothing;
    });
    change(course, () => (course.told = toldBy(job, record) ?? course.told));
    change(course, () => (course.done = isOver(job)));
    if (course.done) course.isOver = true;
  }

  function onWorker(cluster: string, key: string, text: string | undefined): void {
    const job = text === undefined ? undefined : (JSON.parse(text) as Job);
    const before = copies.get(key);
    const origin = job === undefined ? undefined : originUidOf(job);
    if (before !== undefined && before.uid !== job?.metadata.uid) {
      copies.delete(key);
      placeOf(before.origin, cluster, (place) => Object.assign(place, NO_COPY));
      if (orphaned.delete(cluster)) faultsChanged();
    }
    if (job === undefined || origin === undefined) return;
    const { uid, annotations } = job.metadata;
    if (before?.uid !== uid) {
      copies.set(key, { origin, uid });
      origins.set(uid, origin);
      placeOf(origin, cluster, (place) =>
        Object.assign(place, {
          there: true,
          epoch: Number(annotations?.[DISPATCH_EPOCH_ANNOTATION]),
          suspended: job.spec.suspend === true,
        }),
      );
    }
    placeOf(origin, cluster, (place) => (place.suspended = job.spec.suspend === true));
    // A suspension that reaches a copy after its end is seen by nobody: its controller says no more.
    if (!isOver(job))
      placeOf(origin, cluster, (place) => (place.saysSuspended = hasTrueCondition(job.status?.conditions, 'Suspended') || isJudged(job)));
    placeOf(origin, cluster, (place) => (place.ended = isOver(job) || isJudgedAndCounted(job)));
  }

  function onPod(cluster: string, key: string, text: string | undefined): void {
    const pod = text === undefined ? undefined : (JSON.parse(text) as Pod);
    const origin = pods.get(key) ?? origins.get((pod && controllerUidOf(pod)) ?? '');
    if (origin === undefined) return;
    if (pod === undefined || hasEnded(pod)) pods.delete(key);
    else pods.set(key, origin);
    const runs = [...pods].some(([name, of]) => of === origin && name.startsWith(`${cluster}/`));
    placeOf(origin, cluster, (place) => (place.runs = runs));
  }

  function placeOf(origin: string, cluster: string, update: (place: Place) => void): void {
    const course = courses.get(origin);
    const place = course?.places[course.clusters.indexOf(cluster)];
    if (course !== undefined && place !== undefined && !course.isOver) change(course, () => update(place));
  }

  return {
    stored(cluster, { table, namespace, name, text }) {
      const key = `${cluster}/${namespace}/${name}`;
      if (table === 'batch/jobs') {
        if (cluster === HOME) atHome(key, text);
        else onWorker(cluster, key, text);
      } else if (table === '/pods' && cluster !== HOME) onPod(cluster, key, text);
    },
    cutOff: (cluster) => countCut(cluster, 1),
    mended: (cluster) => countCut(cluster, -1),
    edits(cluster) {
      edited.add(cluster);
      faultsChanged();
    },
    edited(cluster) {
      edited.delete(cluster);
      faultsChanged();
    },
    orphans(cluster) {
      orphaned.add(cluster);
      faultsChanged();
    },
    started(program) {
      dead.delete(program);
      faultsChanged();
    },
    died(program) {
      dead.add(program);
      faultsChanged();
    },
    traces: () => [...courses].map(([job, { states }]) => ({ job, states })).filter(({ states }) => states.length > 1),
  };
}

/** It was suspended after its verdict and has no pod left: its controller says no more than that, and does not end what is suspended. */
function isJudged({ spec, status }: Job): boolean {
  const { conditions, active = 0, terminating = 0 } = status ?? {};
  const hasVerdict = ['FailureTarget', 'SuccessCriteriaMet'].some((type) => hasTrueCondition(conditions, type));
  return spec.suspend === true && hasVerdict && active + terminating === 0;
}

/** And all pods are counted, so that the Job may end by that. */
function isJudgedAndCounted(job: Job): boolean {
  const { succeeded = [], failed = [] } = job.status?.uncountedTerminatedPods ?? {};
  return isJudged(job) && succeeded.length + failed.length === 0;
}

const NO_COPY = { there: false, epoch: 0, suspended: false, saysSuspended: false, ended: false };

function begin(): Course {
  const places = Array.from({ length: CLUSTERS_MAX }, (): Place => ({ ...NO_COPY, runs: false }));
  const course: Course = {
    epoch: 0,
    place: 0,
    told: Told.Nothing,
    suspended: true,
    done: false,
    since: '',
    isOver: false,
    places,
    clusters: [],
    states: [],
  };
  return course;
}

/** In the order of `SHOWN` in one-copy.pml. */
const visible = ({ epoch, place, told, suspended, done, places }: Course): number[] => [
  epoch,
  place,
  told,
  Number(suspended),
  Number(done),
  ...places.flatMap((each) =>
    [each.there, each.epoch, each.suspended, each.saysSuspended, each.ended, each.runs].map((value) => Number(value)),
  ),
];

/** Of a state, in words. */
export function describeState([epoch, place, told = 0, suspended, done, ...places]: readonly number[]): string {
  const placeText = (at: number): string => {
    const [there, of, isSuspended, saysSuspended, ended, runs] = places.slice(6 * at, 6 * at + 6);
    const words = { suspended: isSuspended, 'says Suspended': saysSuspended, ended };
    const copy = Object.entries(words).flatMap(([word, value]) => (value === 1 ? [word] : []));
    return `cluster ${at}: ${there === 1 ? [`copy of placement ${of}`, ...copy].join(', ') : 'no copy'}, ${runs === 1 ? 'pods' : 'no pods'}`;
  };
  const says = Object.entries(Told).find(([, value]) => value === told)?.[0];
  const home = `placement ${epoch} on cluster ${place}, says ${says}${suspended === 1 ? ', suspended' : ''}${done === 1 ? ', ended' : ''}`;
  return `(${[home, ...Array.from({ length: CLUSTERS_MAX }, (_, at) => placeText(at))].join('; ')})`;
}

type RecordSeen = { readonly epoch: number; readonly cluster: string; readonly since: string };
const NO_RECORD: RecordSeen = { epoch: 0, cluster: '', since: '' };

function recordOf({ metadata }: Job): RecordSeen | undefined {
  const text = metadata.annotations?.[ADMISSION_ANNOTATION];
  return text === undefined ? NO_RECORD : (JSON.parse(text) as RecordSeen);
}

/** False: it is beyond what the model has. Names the cluster of a first placement there. */
function isWithin({ clusters }: Course, { epoch, cluster }: RecordSeen): boolean {
  if (epoch > 0 && !clusters.includes(cluster)) clusters.push(cluster);
  return clusters.length <= CLUSTERS_MAX && epoch <= EPOCHS_MAX;
}

/** What the Job says of the placement of this record; undefined: nothing that the model tells apart, so that what it said before stands. */
function toldBy({ status }: Job, { epoch, since }: RecordSeen): Told | undefined {
  const { status: value, reason = '', message = '' } = findCondition(status?.conditions, 'Dispatched') ?? {};
  if (value === 'True') return message.includes(`(placement ${epoch})`) ? Told.Dispatched : undefined;
  const isOfRecord = message.endsWith(`(placement ${epoch}, admitted ${since})`);
  if (reason === 'AtRest') return isOfRecord ? Told.AtRest : undefined;
  if (reason === 'FencedOff') return isOfRecord ? Told.FencedOff : undefined;
  if (reason === 'CopyLost') return Told.CopyLost;
  return message.startsWith(`placement ${epoch}: `) ? Told.Refused : undefined;
}
