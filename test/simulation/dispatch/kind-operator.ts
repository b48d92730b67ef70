/**
 * The operator of a described kind on one worker cluster, as such operators are: it makes pods from templates, and says in the status how
 * far it is. All that it knows stands in its cluster, so that it may be started again between any two calls.
 */
import type { DeepReadonly, JobCondition, Pod, PodTemplateSpec, WorkObject } from '../../../shared/api/kubernetes.ts';
import { FENCING_ANNOTATION, JOB_UID_VARIABLE } from '../../../shared/api/names.ts';
import { PODS } from '../../../shared/api/resources.ts';
import { toWireTime } from '../../../shared/api/wire-time.ts';
import { ApiError } from '../../../shared/kube/api-error.ts';
import { hasTrueCondition } from '../../../shared/kube/conditions.ts';
import type { Clock } from '../../../shared/runtime/clock.ts';
import { controllerUidOf, hasEnded, isGoing } from '../../support/invariants/invariant.ts';
import { CREWS } from '../../unit/manager/work-kind/described/described.ts';
import type { Dice } from '../dice.ts';
import type { Cluster } from './yard.ts';

export interface KindOperator {
  /** Looks at all objects once, and moves each with this probability. Below 1 it has faults as well. */
  run(pace: number): Promise<void>;
  /** Whose the objects are that it has seen, by UID, as their templates say it. */
  readonly origins: ReadonlyMap<string, string>;
  /** UIDs of objects whose pods are stopped when the manager is out of reach. */
  readonly fenced: ReadonlySet<string>;
  /** UIDs of the originals of objects that it has declared failed. */
  readonly failed: ReadonlySet<string>;
}

export type CrewSpec = {
  readonly captain: PodTemplateSpec;
  readonly groups: readonly { readonly name: string; readonly hands: number; readonly pod: PodTemplateSpec }[];
  readonly policy?: { readonly suspend?: boolean; readonly managedBy?: string };
};
export const crewSpecOf = ({ spec }: DeepReadonly<WorkObject>): CrewSpec => spec as unknown as CrewSpec;

/** By which its pods are found. */
export const CREW_LABEL = 'example.com/crew';
const SLOT_LABEL = 'example.com/slot';
const SILENCE_RATE = 0.01;
const SILENCE_MAX_MS = 180_000;
const RESTART_RATE = 0.1;
/** Of pods that have failed by themselves, the share that is the end of their crew. */
const END_SHARE = 0.3;

/** UID of the original of a copy. Read apart from the manager's own reading. */
export const crewOriginOf = (crew: DeepReadonly<WorkObject>): string | undefined =>
  crewSpecOf(crew).captain.spec?.containers[0]?.env?.find(({ name }) => name === JOB_UID_VARIABLE)?.value;

/** An operator that is started again in the midst of its work. */
class Restarted extends Error {}

export function createKindOperator(
  { name: cluster, admin }: Cluster,
  clock: Clock,
  dice: Dice,
  trace: (line: string) => void,
): KindOperator {
  const origins = new Map<string, string>();
  const fenced = new Set<string>();
  const failed = new Set<string>();
  /** Not every operator keeps the environment of a template in its pods. */
  const keepsEnvironment = dice.chance(0.5);
  let silentUntilMs = 0;

  async function say(crew: WorkObject, status: object, ...conditions: readonly Pick<JobCondition, 'type' | 'status'>[]): Promise<void> {
    const { namespace, name, uid, resourceVersion } = crew.metadata;
    const lastTransitionTime = toWireTime(clock.now());
    const types = conditions.map(({ type }) => type);
    const others = (crew.status?.conditions ?? []).filter(({ type }) => !types.includes(type));
    const said = conditions.map((each) => ({ ...each, reason: 'Said', message: `by the operator of ${cluster}`, lastTransitionTime }));
    const body = { metadata: { uid, resourceVersion }, status: { ...status, conditions: [...others, ...said] } };
    trace(`${cluster}: operator says of ${namespace}/${name} ${JSON.stringify(status)} ${JSON.stringify(conditions)}`);
    await admin.patchStatus(CREWS, { namespace, name }, { type: 'merge', body });
  }

  async function make(crew: WorkObject, slot: string, { spec }: PodTemplateSpec): Promise<void> {
    if (spec === undefined) return;
    const { namespace, name, uid } = crew.metadata;
    const containers = keepsEnvironment ? spec.containers : spec.containers.map(({ env: _env, ...container }) => container);
    await admin.create(PODS, {
      metadata: {
        namespace,
        name: `${name}-${slot}-${dice.int(0, 2 ** 30).toString(36)}`,
        labels: { [CREW_LABEL]: name, [SLOT_LABEL]: slot },
        ownerReferences: [{ apiVersion: 'example.com/v1', kind: 'Crew', name, uid, controller: true, blockOwnerDeletion: true }],
      },
      spec: { ...spec, containers },
    });
  }

  const perhapsRestart = (pace: number): void => {
    if (pace < 1 && dice.chance(RESTART_RATE)) throw new Restarted();
  };

  async function stop(pods: readonly Pod[], pace: number): Promise<void> {
    for (const { metadata } of pods) {
      const { namespace, name, uid } = metadata;
      await admin.delete(PODS, { namespace, name }, { uid });
      perhapsRestart(pace);
    }
  }

  async function sail(crew: WorkObject, own: readonly Pod[], pace: number): Promise<void> {
    const { captain, groups } = crewSpecOf(crew);
    const slots = [
      ['captain', captain] as const,
      ...groups.flatMap(({ name, hands, pod }) => Array.from({ length: hands }, (_, at) => [`${name}-${at}`, pod] as const)),
    ];
    let failures = 0;
    let [done, sailing] = [0, 0];
    for (const [slot, template] of slots) {
      const pods = own.filter(({ metadata }) => metadata.labels?.[SLOT_LABEL] === slot);
      if (pods.some(({ status }) => status?.phase === 'Succeeded')) done++;
      else if (pods.some((pod) => !hasEnded(pod))) sailing += pods.some(({ status }) => status?.phase === 'Running') ? 1 : 0;
      else {
        failures += pods.filter((pod) => !isGoing(pod)).length;
        if (failures > 0 && dice.chance(END_SHARE)) break;
        await make(crew, slot, template);
        failures = 0;
        perhapsRestart(pace);
      }
    }
    if (failures > 0) {
      failed.add(crewOriginOf(crew) ?? '');
      return say(crew, { phase: 'Sunk' }, { type: 'Sunk', status: 'True' });
    }
    if (done === slots.length) return say(crew, { phase: 'Home' }, { type: 'Arrived', status: 'True' });
    const aboard = done + sailing === slots.length;
    if (crew.status?.['phase'] !== 'Sailing' || crew.status['aboard'] !== aboard) await say(crew, { phase: 'Sailing', aboard });
  }

  async function move(crew: WorkObject, pods: readonly Pod[], pace: number): Promise<void> {
    const { uid, deletionTimestamp } = crew.metadata;
    const own = pods.filter((pod) => controllerUidOf(pod) === uid);
    const running = own.filter((pod) => !hasEnded(pod));
    const staying = running.filter((pod) => !isGoing(pod));
    const { conditions } = crew.status ?? {};
    if (deletionTimestamp !== undefined) return;
    if (['Arrived', 'Sunk'].some((type) => hasTrueCondition(conditions, type))) return stop(staying, pace);
    const isMoored = hasTrueCondition(conditions, 'Moored');
    if (crewSpecOf(crew).policy?.suspend === true) {
      if (staying.length > 0) return stop(staying, pace);
      if (running.length === 0 && !isMoored) await say(crew, { phase: 'Moored', aboard: false }, { type: 'Moored', status: 'True' });
      return;
    }
    if (isMoored) return say(crew, { phase: 'Boarding' }, { type: 'Moored', status: 'False' });
    await sail(crew, own, pace);
  }

  return {
    origins,
    fenced,
    failed,
    async run(pace) {
      const { items: crews } = await admin.list(CREWS);
      for (const crew of crews) {
        origins.set(crew.metadata.uid, crewOriginOf(crew) ?? '');
        if (crew.metadata.annotations?.[FENCING_ANNOTATION] !== 'off') fenced.add(crew.metadata.uid);
      }
      if (pace < 1 && dice.chance(SILENCE_RATE)) silentUntilMs = clock.now() + dice.int(5_000, SILENCE_MAX_MS);
      if (pace < 1 && clock.now() < silentUntilMs) return;
      for (const crew of crews) {
        if (!dice.chance(pace)) continue;
        // What there is of pods is read after the crew: none of those is missed that were made for an earlier version of it.
        const pods = (await admin.list(PODS, { labelSelector: CREW_LABEL })).items;
        try {
          await move(crew, pods, pace);
        } catch (error) {
          if (!(error instanceof ApiError || error instanceof Restarted)) throw error;
        }
      }
    },
  };
}
