/** Objects of a described kind beside Jobs: what users do to them, who plays them on the worker clusters, and what is promised of them. */
import { FailReason } from '../../../manager/api/reasons.ts';
import type { DeepReadonly, Unsaved, WorkObject } from '../../../shared/api/kubernetes.ts';
import { COPIES_FINALIZER, HOLD_ANNOTATION, ORIGIN_LABEL, PRIORITY_ANNOTATION } from '../../../shared/api/names.ts';
import { CUSTOM_RESOURCE_DEFINITIONS, PODS } from '../../../shared/api/resources.ts';
import { ApiError } from '../../../shared/kube/api-error.ts';
import { findCondition, isFinished } from '../../../shared/kube/conditions.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { aCrew, aCrewPod, CREW_DEFINITION, CREWS } from '../../unit/manager/work-kind/described/described.ts';
import type { Dice } from '../dice.ts';
import { createKindOperator, CREW_LABEL, crewOriginOf, crewSpecOf } from './kind-operator.ts';
import type { HeldPod } from './yard-history.ts';
import type { Cluster, Yard } from './yard.ts';

export interface DescribedWork {
  submit(): Promise<void>;
  /** Somebody does one thing to some object, at home or on a worker cluster. */
  meddle(): Promise<void>;
  /** A user of a worker cluster deletes a copy there that is known at home. */
  deleteCopy(propagationPolicy: 'Background' | 'Foreground' | 'Orphan'): Promise<void>;
  /** The operators on all worker clusters look once (`kind-operator.ts`). */
  run(pace: number): Promise<void>;
  /** Whatever keeps objects from running and ending is taken back, and pods whose copy was deleted from over them are taken away. */
  relent(): Promise<void>;
  /** The copy that has made this pod. */
  readonly copyOf: (ownerUid: string) => HeldPod['copy'];
  /** What is not as it is promised, as long as no store is put back. */
  look(queueMayFail: boolean): Promise<string[]>;
  /** Objects that neither end nor go. */
  unended(): Promise<string[]>;
  /** Copies on this cluster, without those that may rest there. */
  copiesOn(cluster: Cluster, mayRest: boolean): Promise<string[]>;
  /** Objects that are suspended at home, by UID: what they are called. */
  suspended(): Promise<ReadonlyMap<string, string>>;
  /** Objects as the rules of precedence know them, by what they are called there: all of priority 0. */
  readonly names: ReadonlySet<string>;
}

const NAMES_MAX = 3;
/** Share of the worker clusters but the first that do not know the kind. */
const LACKING_SHARE = 0.25;

export async function createDescribedWork(
  { home, workers, teams }: Pick<Yard, 'home' | 'workers' | 'teams'>,
  dice: Dice,
  clock: Clock,
  trace: (line: string) => void,
): Promise<DescribedWork> {
  const client = home.admin;
  const serving = workers.filter((_, position) => position === 0 || !dice.chance(LACKING_SHARE));
  trace(`crews are served by ${serving.map(({ name }) => name).join(', ')}`);
  for (const { admin } of [home, ...serving]) await admin.create(CUSTOM_RESOURCE_DEFINITIONS, structuredClone(CREW_DEFINITION) as never);
  const operators = serving.map((cluster) => createKindOperator(cluster, clock, dice, trace));
  /** From which version on somebody has suspended it, by UID. */
  const held = new Map<string, number>();
  const names = new Set<string>();

  /** What the server does not let through has not happened. */
  async function attempt<T>(what: string, call: () => Promise<T>): Promise<T | undefined> {
    trace(`crews: ${what}`);
    try {
      return await call();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      trace(`crews: refused: ${error.message}`);
      return undefined;
    }
  }
  const crews = async (): Promise<readonly WorkObject[]> => (await client.list(CREWS)).items;
  const placed = ({ metadata: { namespace, name } }: WorkObject) => ({ namespace, name });
  const patch = (crew: WorkObject, body: object): Promise<WorkObject | undefined> =>
    attempt(`patch ${nameOf(crew)} ${JSON.stringify(body)}`, () => client.patch(CREWS, placed(crew), { type: 'merge', body }));

  async function submit(): Promise<void> {
    const [namespace, name] = [dice.some(teams)?.namespace ?? '', `crew-${dice.int(0, NAMES_MAX - 1)}`];
    const pod = () => aCrewPod(dice.pick(['100m', '200m', '300m']));
    const least = dice.chance(0.3) ? { least: 1 } : {};
    const groups = [{ name: 'deck', hands: dice.int(1, 2), ...least, pod: pod() }];
    const { metadata, spec, ...crew } = aCrew({ spec: { captain: pod(), groups } });
    const policy = { suspend: true, managedBy: 'example.com/elsewhere' };
    const manifest = { ...crew, metadata: { name, namespace, labels: metadata.labels ?? {} }, spec: { ...spec, policy } };
    const made = await attempt(`create ${namespace}/${name} ${JSON.stringify(groups)}`, () =>
      client.create(CREWS, manifest as Unsaved<WorkObject>),
    );
    for (const each of [name, `crews.example.com:${name}`]) names.add(`${namespace}/${each}`);
    if (made !== undefined) names.add(made.metadata.uid);
  }

  async function suspend(crew: WorkObject): Promise<void> {
    const { uid, annotations } = crew.metadata;
    const made = await patch(crew, { metadata: { uid }, spec: { policy: { suspend: true } } });
    if (made !== undefined && !isSuspended(crew) && annotations?.[HOLD_ANNOTATION] === undefined)
      held.set(uid, Number(made.metadata.resourceVersion));
  }

  const hold = (crew: WorkObject, value: 'true' | 'false' | null): Promise<unknown> => {
    if (value !== 'true') held.delete(crew.metadata.uid);
    return patch(crew, { metadata: { annotations: { [HOLD_ANNOTATION]: value } } });
  };

  async function deleteCopy(propagationPolicy: 'Background' | 'Foreground' | 'Orphan'): Promise<void> {
    const cluster = dice.some(serving);
    if (cluster === undefined) return;
    const { admin, name } = cluster;
    const uids = new Set((await crews()).map(({ metadata }) => metadata.uid));
    const copy = dice.some((await admin.list(CREWS)).items.filter((each) => uids.has(crewOriginOf(each) ?? '')));
    if (copy === undefined) return;
    await attempt(`${name}: a user deletes the copy ${nameOf(copy)} ${propagationPolicy}`, () =>
      admin.delete(CREWS, placed(copy), { propagationPolicy, uid: copy.metadata.uid }),
    );
  }

  return {
    submit,
    deleteCopy,
    names,
    async meddle() {
      const crew = dice.some(await crews());
      if (crew === undefined || dice.chance(0.3)) return submit();
      switch (dice.pick(['suspend', 'hold', 'release', 'course', 'priority', 'delete', 'delete a copy'] as const)) {
        case 'suspend':
          return suspend(crew);
        case 'hold':
          return void (await hold(crew, 'true'));
        case 'release':
          return void (await hold(crew, dice.pick(['false', null])));
        case 'course':
          return void (await patch(crew, { spec: { course: String(dice.int(0, 1000)) } }));
        case 'priority':
          return void (await patch(crew, { metadata: { annotations: { [PRIORITY_ANNOTATION]: '0' } } }));
        case 'delete': {
          const propagationPolicy = dice.pick(['Background', 'Foreground', 'Orphan'] as const);
          await attempt(`delete ${nameOf(crew)} ${propagationPolicy}`, () => client.delete(CREWS, placed(crew), { propagationPolicy }));
          return;
        }
        case 'delete a copy':
          return deleteCopy(dice.pick(['Background', 'Foreground', 'Orphan']));
      }
    },
    async run(pace) {
      for (const operator of operators) await operator.run(pace);
    },
    async relent() {
      held.clear();
      for (const crew of await crews())
        if (!isFinished(crew.status) && crew.metadata.annotations?.[HOLD_ANNOTATION] === 'true') await hold(crew, null);
      for (const { admin } of serving)
        for (const { metadata } of (await admin.list(PODS, { labelSelector: CREW_LABEL })).items) {
          const { namespace, name, uid, ownerReferences = [] } = metadata;
          if (ownerReferences.length === 0) await attempt(`delete pod ${name}`, () => admin.delete(PODS, { namespace, name }, { uid }));
        }
    },
    copyOf(uid) {
      const originUid = operators.map(({ origins }) => origins.get(uid)).find((each) => each !== undefined && each !== '');
      return originUid === undefined ? undefined : { uid, originUid, name: uid, fenced: operators.some(({ fenced }) => fenced.has(uid)) };
    },
    async look(queueMayFail) {
      return (await crews()).flatMap((crew) => {
        const { uid, resourceVersion } = crew.metadata;
        const isHeld = Number(resourceVersion) > (held.get(uid) ?? Number.POSITIVE_INFINITY);
        const { status, reason, message } = findCondition(crew.status?.conditions, 'Failed') ?? {};
        const mayFail = operators.some(({ failed }) => failed.has(uid)) || (reason === FailReason.CannotStart && queueMayFail);
        return [
          ...(isHeld && !isSuspended(crew) ? [`home: crew ${nameOf(crew)} was suspended by its user, and goes on`] : []),
          ...(status === 'True' && !mayFail
            ? [`home: crew ${nameOf(crew)} has failed (${reason}: ${message}), and its operator did not say so`]
            : []),
        ];
      });
    },
    unended: async () =>
      (await crews())
        .filter(({ metadata, status }) =>
          metadata.deletionTimestamp === undefined ? !isFinished(status) : metadata.finalizers?.includes(COPIES_FINALIZER) === true,
        )
        .map((crew) => `home: crew ${nameOf(crew)} does not end`),
    async copiesOn(cluster, mayRest) {
      if (!serving.includes(cluster)) return [];
      const copies = (await cluster.admin.list(CREWS)).items.filter(isCopy);
      return copies.filter((copy) => !mayRest || !(isSuspended(copy) || isFinished(copy.status))).map((copy) => `crew ${nameOf(copy)}`);
    },
    suspended: async () => new Map((await crews()).filter(isSuspended).map((crew) => [crew.metadata.uid, `crew ${nameOf(crew)}`])),
  };
}

const isSuspended = (crew: DeepReadonly<WorkObject>): boolean => crewSpecOf(crew).policy?.suspend === true;
const isCopy = (crew: DeepReadonly<WorkObject>): boolean =>
  crewOriginOf(crew) !== undefined || crew.metadata.labels?.[ORIGIN_LABEL] !== undefined;
const nameOf = ({ metadata: { namespace, name } }: DeepReadonly<WorkObject>): string => `${namespace}/${name}`;
