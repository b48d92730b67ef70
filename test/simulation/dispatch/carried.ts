/** ConfigMaps and Secrets that Jobs take along: what users do to them, and what is promised of them and of those of others. */
import { referenceKey } from '../../../manager/api/pod-references.ts';
import { planCompanions } from '../../../manager/dispatch/companions/plan-companions.ts';
import type { ConfigMap, KubeObject, Pod, PodSpec, Secret } from '../../../shared/api/kubernetes.ts';
import { CARRY_ANNOTATION, ORIGIN_LABEL } from '../../../shared/api/names.ts';
import { CONFIG_MAPS, JOBS, PODS, type Resource, SECRETS } from '../../../shared/api/resources.ts';
import { ApiError } from '../../../shared/kube/api-error.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { controllerUidOf, hasEnded } from '../../support/invariants/invariant.ts';
import type { Dice } from '../dice.ts';
import { originUidOf } from './marks.ts';
import type { Cluster, Yard } from './yard.ts';

type Content = (ConfigMap | Secret) & { readonly immutable?: boolean };
type Reference = { readonly kind: 'ConfigMap' | 'Secret'; readonly name: string; readonly optional: boolean };

const REFERENCES: readonly Reference[] = [
  { kind: 'ConfigMap', name: 'settings', optional: false },
  { kind: 'ConfigMap', name: 'perhaps', optional: true },
  { kind: 'Secret', name: 'token', optional: false },
];
/** Few, so that Jobs share what they take along. */
const VERSIONS = ['1', '2', '3'] as const;
const RESOURCES = { ConfigMap: CONFIG_MAPS as Resource<Content>, Secret: SECRETS as Resource<Content> } as const;
/** Share of the namespaces of teams in which somebody has the name of an object before any Job comes. */
const SQUATTER_SHARE = 0.3;
const KINDS = ['ConfigMap', 'Secret'] as const;

export interface Carried {
  /** What a Job of this namespace takes along; undefined: nothing. */
  draw(): Wish | undefined;
  /** A Job of this UID has been made with it. */
  submitted(uid: string, wish: Wish): void;
  /** A user changes, deletes or makes one of the objects at home, or puts an object of their own where one is to go. */
  meddle(): Promise<void>;
  /** All objects are there, and nobody else has their names. */
  relent(): Promise<void>;
  /** What is not as it is promised. `excused`: clusters whose store was put back a moment ago. */
  look(excused: ReadonlySet<string>, restored: ReadonlySet<string>): Promise<string[]>;
  /** What was carried to this cluster, and belongs to no copy that is there. */
  left(cluster: Cluster): Promise<string[]>;
  /** Users whose deletion of a copy has left its objects take them away. */
  removeOrphans(): Promise<void>;
}

export type Wish = { readonly references: readonly Reference[]; readonly annotations: Readonly<Record<string, string>> };

/** The pods of a Job with what it wishes. */
export function referringTo(pod: PodSpec, { references }: Wish): PodSpec {
  const named = (kind: Reference['kind']): readonly Reference[] => references.filter((each) => each.kind === kind);
  const envFrom = named('ConfigMap').map(({ name, optional }) => ({ configMapRef: { name, ...(optional ? { optional } : {}) } }));
  const volumes = named('Secret').map(({ name }) => ({ name, secret: { secretName: name } }));
  const containers = pod.containers.map((container) => ({ ...container, envFrom }));
  return { ...pod, containers, volumes: [...(pod.volumes ?? []), ...volumes] };
}

/** The names by which a pod refers to objects of a kind. Read apart from the manager's own reading. */
const namesIn = ({ spec }: Pod, kind: Reference['kind']): string[] =>
  kind === 'ConfigMap'
    ? spec.containers.flatMap(({ envFrom = [] }) => envFrom.map(({ configMapRef }) => configMapRef?.name ?? ''))
    : (spec.volumes ?? []).flatMap(({ secret }) => secret?.secretName ?? []);

export async function createCarried(
  { home, workers, teams }: Pick<Yard, 'home' | 'workers' | 'teams'>,
  bare: readonly string[],
  dice: Dice,
  trace: (line: string) => void,
): Promise<Carried> {
  const namespaces = teams.map(({ namespace }) => namespace);
  const wishes = new Map<string, Wish>();
  /** Objects of others on worker clusters as they have made them, by place. */
  const foreign = new Map<string, { readonly text: string; readonly squats: boolean }>();
  const placeOf = (cluster: string, kind: Reference['kind'], { metadata }: KubeObject): string =>
    `${cluster}: ${kind} ${metadata.namespace}/${metadata.name}`;

  const make = (client: KubeClient, { kind, name }: Reference, namespace: string, data: Record<string, string>): Promise<Content> =>
    client.create(RESOURCES[kind], { metadata: { name, namespace }, data: kind === 'Secret' ? encoded(data) : data });

  /** An object that is no business of any manager. */
  async function settle(cluster: Cluster, kind: Reference['kind'], object: object, squats: boolean): Promise<void> {
    const made = await attempt(() => cluster.admin.create(RESOURCES[kind], object as Content));
    if (made !== undefined) foreign.set(placeOf(cluster.name, kind, made), { text: textOf(made), squats });
  }

  for (const namespace of namespaces) {
    for (const reference of REFERENCES) if (!reference.optional) await make(home.admin, reference, namespace, { version: '1' });
    for (const cluster of workers.filter(({ name }) => !bare.includes(name)))
      for (const { kind, name } of REFERENCES)
        await settle(cluster, kind, { metadata: { name, namespace }, data: kind === 'Secret' ? encoded(OTHERS) : OTHERS }, false);
  }

  /** Where the object of this reference would go, somebody has one of their own: with other content, or the same. */
  async function squat(cluster: Cluster, namespace: string, reference: Reference): Promise<void> {
    const found = await attempt(() => home.admin.get(RESOURCES[reference.kind], { namespace, name: reference.name }));
    const plan = planCompanions(namespace, [reference], new Map([[referenceKey(reference), found]]), '');
    const wanted = plan.kind === 'Ready' ? plan.companions[0]?.object : undefined;
    if (wanted === undefined) return;
    const { name = '' } = wanted.metadata;
    const own = dice.chance(0.5) ? wanted : { data: reference.kind === 'Secret' ? encoded(OTHERS) : OTHERS };
    trace(`${cluster.name}: a user has a ${reference.kind} ${namespace}/${name}${own === wanted ? ' of the same content' : ''}`);
    await settle(cluster, reference.kind, { ...own, metadata: { name, namespace } }, true);
  }

  for (const namespace of namespaces) {
    const [cluster, reference] = [dice.some(workers), dice.some(REFERENCES.filter(({ optional }) => !optional))];
    if (dice.chance(SQUATTER_SHARE) && cluster !== undefined && reference !== undefined) await squat(cluster, namespace, reference);
  }

  async function objectsOf({ admin }: Cluster): Promise<(readonly [Reference['kind'], Content])[]> {
    const lists = await Promise.all(
      KINDS.map(async (kind) => (await admin.list(RESOURCES[kind])).items.map((each) => [kind, each] as const)),
    );
    return lists.flat();
  }

  /** What has become of objects of others. */
  async function foreignKept(cluster: Cluster, isRestored: boolean): Promise<string[]> {
    const present = new Map((await objectsOf(cluster)).map(([kind, object]) => [placeOf(cluster.name, kind, object), object]));
    return [...foreign].flatMap(([place, { text, squats }]) => {
      if (!place.startsWith(`${cluster.name}: `)) return [];
      const object = present.get(place);
      if (object === undefined) return squats && isRestored ? [] : [`${place} is not ours, and was deleted`];
      // A store that was put back may have one of ours by that name.
      return textOf(object) === text || (squats && isRestored) ? [] : [`${place} is not ours, and was changed: ${textOf(object)}`];
    });
  }

  async function lacking({ name: cluster, admin }: Cluster): Promise<Map<string, string>> {
    const pods = (await admin.list(PODS)).items;
    const objects = new Map((await objectsOf({ admin } as Cluster)).map(([kind, object]) => [`${kind} ${keyOf(object)}`, object]));
    const copies = new Map((await admin.list(JOBS)).items.map((job) => [job.metadata.uid, job]));
    const found = new Map<string, string>();
    for (const pod of pods) {
      const { namespace, name, uid, deletionTimestamp } = pod.metadata;
      const copy = copies.get(controllerUidOf(pod) ?? '');
      const wish = copy && wishes.get(originUidOf(copy) ?? '');
      if (hasEnded(pod) || deletionTimestamp !== undefined || copy?.metadata.deletionTimestamp !== undefined) continue;
      for (const reference of wish?.references ?? []) {
        const names = namesIn(pod, reference.kind).filter((each) => each === reference.name || each.startsWith(`${reference.name}-`));
        const [own = ''] = names;
        const object = objects.get(`${reference.kind} ${namespace}/${own}`);
        const isThere = object?.metadata.labels?.[ORIGIN_LABEL] !== undefined && VERSIONS.some((each) => each === versionOf(object));
        if (isThere || (reference.optional && own === reference.name)) continue;
        found.set(`${uid} ${reference.name}`, `${cluster}: pod ${namespace}/${name} runs without the ${reference.kind} ${own}`);
      }
    }
    return found;
  }

  /** What a second look finds as well: between the lists of the first something may have gone. */
  async function nobodyLacks(cluster: Cluster): Promise<string[]> {
    const first = await lacking(cluster);
    const second = first.size === 0 ? first : await lacking(cluster);
    return [...second].flatMap(([key, text]) => (first.has(key) ? [text] : []));
  }

  async function originalsKept(): Promise<string[]> {
    const objects = (await objectsOf(home)).filter(([, { metadata }]) => namespaces.includes(metadata.namespace ?? ''));
    return objects.flatMap(([kind, object]) =>
      object.metadata.labels === undefined && object.metadata.ownerReferences === undefined && object.immutable === undefined
        ? []
        : [`${placeOf(home.name, kind, object)} is the user's, and was changed: ${textOf(object)}`],
    );
  }

  const changeTo = async (namespace: string, { kind, name }: Reference, version: string): Promise<void> => {
    const data = kind === 'Secret' ? encoded({ version }) : { version };
    await attempt(() => home.admin.patch(RESOURCES[kind], { namespace, name }, { type: 'merge', body: { data } }));
  };

  return {
    draw() {
      const references = REFERENCES.filter(() => dice.chance(0.6));
      if (references.length === 0 || dice.chance(0.3)) return undefined;
      return { references, annotations: { [CARRY_ANNOTATION]: 'ConfigMaps,Secrets' } };
    },
    submitted: (uid, wish) => void wishes.set(uid, wish),
    async meddle() {
      const [namespace, reference, cluster] = [dice.some(namespaces) ?? '', dice.some(REFERENCES), dice.some(workers)];
      const act = dice.pick(['change', 'change', 'delete', 'make', 'make', 'squat'] as const);
      const version = dice.pick(VERSIONS);
      if (reference === undefined || cluster === undefined) return;
      const { kind, name } = reference;
      trace(`people: ${act} ${kind} ${namespace}/${name} ${version}`);
      if (act === 'change') await changeTo(namespace, reference, version);
      else if (act === 'delete') await attempt(() => home.admin.delete(RESOURCES[kind], { namespace, name }));
      else if (act === 'make') await attempt(() => make(home.admin, reference, namespace, { version }));
      else await squat(cluster, namespace, reference);
    },
    async relent() {
      for (const namespace of namespaces)
        for (const reference of REFERENCES)
          if (!reference.optional) await attempt(() => make(home.admin, reference, namespace, { version: '1' }));
      for (const cluster of workers)
        for (const [kind, object] of await objectsOf(cluster)) {
          const place = placeOf(cluster.name, kind, object);
          const known = foreign.get(place);
          if (known?.squats !== true) continue;
          foreign.delete(place);
          if (textOf(object) === known.text) await attempt(() => cluster.admin.delete(RESOURCES[kind], keyIn(object)));
        }
    },
    async look(excused, restored) {
      const found = await originalsKept();
      for (const cluster of workers) {
        found.push(...(await foreignKept(cluster, restored.has(cluster.name))));
        if (!excused.has(cluster.name)) found.push(...(await nobodyLacks(cluster)));
      }
      return found;
    },
    async left(cluster) {
      const objects = await objectsOf(cluster);
      const present = new Set((await cluster.admin.list(JOBS)).items.map(({ metadata }) => metadata.uid));
      return objects.flatMap(([kind, object]) => {
        const { labels, ownerReferences = [] } = object.metadata;
        const isCarried = labels?.[ORIGIN_LABEL] !== undefined && object.immutable === true;
        return isCarried && !ownerReferences.some(({ uid }) => present.has(uid)) ? [`${kind} ${keyOf(object)}`] : [];
      });
    },
    async removeOrphans() {
      for (const cluster of workers)
        for (const [kind, object] of await objectsOf(cluster)) {
          const { labels, ownerReferences = [], uid, resourceVersion } = object.metadata;
          if (labels?.[ORIGIN_LABEL] === undefined || object.immutable !== true || ownerReferences.length > 0) continue;
          await attempt(() => cluster.admin.delete(RESOURCES[kind], keyIn(object), { uid, resourceVersion }));
        }
    },
  };
}

/** What the server does not let through has not happened. */
async function attempt<T>(call: () => Promise<T>): Promise<T | undefined> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return undefined;
  }
}

const OTHERS = { of: 'somebody' };
const keyIn = ({ metadata }: KubeObject): { readonly namespace: string; readonly name: string } => ({
  namespace: metadata.namespace ?? '',
  name: metadata.name,
});
const keyOf = ({ metadata }: KubeObject): string => `${metadata.namespace}/${metadata.name}`;
const encoded = (data: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]));

const versionOf = ({ data }: Content): string => {
  const value = data?.['version'] ?? '';
  return value.length > 1 ? Buffer.from(value, 'base64').toString() : value;
};

/** What others have written of it. */
function textOf(object: Content): string {
  const { labels, annotations, ownerReferences, finalizers, deletionTimestamp, uid } = object.metadata;
  return JSON.stringify({
    uid,
    data: object.data,
    immutable: object.immutable,
    labels,
    annotations,
    ownerReferences,
    finalizers,
    deletionTimestamp,
  });
}
