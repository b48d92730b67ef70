import type { DeepReadonly, KubeObject } from '../../../shared/api/kubernetes.ts';
import type { Resource } from '../../../shared/api/resources.ts';
import type { ApiError } from '../../../shared/kube/api-error.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { paintFor } from '../colours.ts';
import { withCluster } from '../with-cluster.ts';
import type { SingleKind } from '../../work-kind/work-kind.ts';
import type { ClusterChoice, ClusterConnection } from '../cluster-connection.ts';
import { CommandError } from '../command-error.ts';
import { ExitCode } from '../exit-codes.ts';
import { followObjects } from '../follow-objects.ts';
import { plain } from '../plain-text.ts';
import { asJson, asYaml } from '../rendering.ts';
import type { Session } from '../session.ts';
import { isWordFor, noKind } from '../work-kinds.ts';
import { kindView, wholeObject, type Column, type KindView } from './kinds.ts';
import { objectTable, type TableStyle } from './object-table.ts';
import { readObjects, type Listing } from './read-objects.ts';
import { EVERY_KIND, type Wanted } from './wanted.ts';
import { workView } from './work-view.ts';

export type GetConfig = ClusterChoice & {
  /** Several: kinds of work, each with names. */
  readonly wanted: readonly Wanted[];
  /** Undefined: that of the context. */
  readonly namespace: string | undefined;
  readonly 'all-namespaces': boolean;
  readonly selector: string | undefined;
  readonly output: 'table' | 'wide' | 'json' | 'yaml' | 'name';
  readonly watch: boolean;
  /** Only those in one of these states; undefined: all. */
  readonly state: readonly string[] | undefined;
  /** The head of the column that orders them; undefined: as they are listed. */
  readonly column: string | undefined;
};

export const runGet = (config: GetConfig, session: Session): Promise<number> =>
  withCluster(config, async (connection) => {
    const { view, names, unknownKinds } = await viewOf(connection, config.wanted);
    if (unknownKinds !== undefined) await session.errors.write(`only Jobs are shown: ${unknownKinds}\n`);
    const isNamespaced = view.resources.every(({ namespaced }) => namespaced);
    const namespace = !isNamespaced || config['all-namespaces'] ? '' : (config.namespace ?? connection.namespace);
    const listing = { view, names, namespace };
    // Also where changes are followed: only this says why something cannot be read.
    const { objects, refused } = await readObjects(connection.client, listing, config.selector);
    for (const { resource, error } of refused)
      await session.errors.write(`no ${resource.plural} are shown: ${whyRefused(resource, error)}\n`);
    const left = { ...view, resources: view.resources.filter((each) => refused.every(({ resource }) => resource !== each)) };
    if (config.watch) return follow(connection.client, config, session, { ...listing, view: left }, objects);
    const code = await show(config, session, listing, chosen(objects, config, view, session.now()));
    // Of a kind that is not served there is nothing to see.
    return refused.every(({ error }) => error.code === 404) ? code : ExitCode.Failed;
  });

const whyRefused = ({ plural, group }: Resource, error: ApiError): string =>
  error.code === 404 ? `the cluster does not serve ${plural}.${group}; its WorkKind is left` : plain(error.message);

/** `unknownKinds`: why there are Jobs alone where every kind is wanted. */
type View = Omit<Listing, 'namespace'> & { readonly unknownKinds?: string };

/** Throws CommandError for a kind that there is not, and as {@link readWorkKinds} where a kind other than Job must be known. */
async function viewOf(connection: ClusterConnection, wanted: readonly Wanted[]): Promise<View> {
  const [only] = wanted;
  const fixed = only && kindView(only.word);
  if (fixed !== undefined) return { view: fixed, names: new Map(fixed.resources.map((resource) => [resource, only?.names ?? []])) };
  const jobs = connection.kind.of(undefined) as SingleKind;
  const isForJobs = wanted.every(({ word }) => isWordFor(jobs.resource, word));
  let unknownKinds: string | undefined;
  const others = isForJobs
    ? undefined
    : await connection.kinds().catch((error: unknown) => {
        // All kinds are those that the user may see.
        if (!(error instanceof CommandError) || wanted.some(({ word }) => word !== EVERY_KIND)) throw error;
        unknownKinds = error.message;
        return undefined;
      });
  const kinds = [jobs, ...(others?.kind.others ?? [])];
  const names = new Map<Resource, readonly string[]>();
  for (const { word, names: some } of wanted) {
    const meant = word === EVERY_KIND ? kinds : kinds.filter(({ resource }) => isWordFor(resource, word)).slice(0, 1);
    if (meant.length === 0) throw new CommandError(`${noKind('KIND', word, kinds)}; queues and clusters are listed, too`, ExitCode.Usage);
    for (const { resource } of meant) names.set(resource, [...(names.get(resource) ?? []), ...some]);
  }
  const shown = kinds.filter(({ resource }) => names.has(resource));
  return { view: workView(shown.map(({ resource }) => resource.plural).join(' or '), shown), names, ...omitUndefined({ unknownKinds }) };
}

/** Those in the wanted states, in the wanted order. */
function chosen(objects: readonly KubeObject[], { state, column }: GetConfig, view: KindView, nowMs: number): readonly KubeObject[] {
  const columnOf = (head: string): Column | undefined => view.columns.find((each) => each.head === head.toUpperCase());
  const stateColumn = columnOf('STATE');
  const states = state?.map((each) => each.toLowerCase());
  const kept = objects.filter((object) => states?.includes(stateColumn?.cell(object, nowMs).toLowerCase() ?? '') ?? true);
  if (column === undefined) return kept;
  const by = columnOf(column);
  const keyOf = (object: KubeObject): string =>
    // Ages are words; the youngest comes first.
    by?.head === 'AGE' ? String(nowMs - Date.parse(object.metadata.creationTimestamp)) : (by?.cell(object, nowMs) ?? '');
  return kept.toSorted((a, b) => keyOf(a).localeCompare(keyOf(b), 'en', { numeric: true }));
}

async function show(config: GetConfig, session: Session, listing: Listing, objects: readonly KubeObject[]): Promise<number> {
  const { view, names, namespace } = listing;
  const { output } = config;
  const isOne = [...names.values()].flat().length === 1;
  const document = isOne ? objects[0] : { apiVersion: 'v1', kind: 'List', items: objects };
  switch (output) {
    case 'json':
      await session.output.write(asJson(document));
      return ExitCode.Done;
    case 'yaml':
      await session.output.write(asYaml(document));
      return ExitCode.Done;
    case 'name':
      await session.output.write(objects.map((object) => `${nameOf(object)}\n`).join(''));
      return ExitCode.Done;
    case 'table':
    case 'wide':
      if (objects.length === 0) {
        const where = namespace === '' ? '' : ` in namespace ${plain(namespace)}`;
        const more = `${config.selector === undefined ? '' : ' with these labels'}${config.state === undefined ? '' : ' in these states'}`;
        await session.errors.write(`There are no ${view.name}${where}${more}.\n`);
        return ExitCode.Done;
      }
      await session.output.write(lines(objectTable(view, objects, styleOf(config, session, listing))));
      return ExitCode.Done;
  }
}

const lines = (all: readonly string[]): string => all.map((line) => `${line}\n`).join('');
const nameOf = ({ apiVersion = '', kind = '', metadata }: KubeObject): string => {
  const group = apiVersion.includes('/') ? `.${apiVersion.slice(0, apiVersion.indexOf('/'))}` : '';
  return `${kind.toLowerCase()}${group}/${plain(metadata.name)}`;
};

const styleOf = ({ output }: GetConfig, { output: stream, now }: Session, { view, namespace }: Listing): TableStyle => ({
  wide: output === 'wide',
  namespaces: namespace === '' && view.resources.every(({ namespaced }) => namespaced),
  width: stream.width,
  nowMs: now(),
  paint: paintFor(stream),
});

/** What there is, then every change, until the session is interrupted. Lines are as wide as all objects so far need. */
async function follow(
  client: KubeClient,
  config: GetConfig,
  session: Session,
  listing: Listing,
  objects: readonly KubeObject[],
): Promise<number> {
  const { output, selector } = config;
  const { view, names, namespace } = listing;
  const shown = new Map<string, KubeObject>();
  let headed = false;
  const print = async (object: KubeObject): Promise<void> => {
    const isFirst = !headed;
    headed = true;
    if (output === 'json') return session.output.write(asJson(object));
    if (output === 'yaml') return session.output.write(`${isFirst ? '' : '---\n'}${asYaml(object)}`);
    if (output === 'name') return session.output.write(`${nameOf(object)}\n`);
    const others = [...shown.values()].filter(({ metadata }) => metadata.uid !== object.metadata.uid);
    const table = objectTable(view, [...others, object], styleOf(config, session, listing));
    const before = objectTable(view, others, styleOf(config, session, listing)).length;
    return session.output.write(lines([...(isFirst ? table.slice(0, 1) : []), ...table.slice(Math.max(1, before))]));
  };
  if (output === 'table' || output === 'wide') {
    for (const object of objects) shown.set(object.metadata.uid, object);
    if (objects.length > 0) await session.output.write(lines(objectTable(view, objects, styleOf(config, session, listing))));
    headed = objects.length > 0;
  }
  const changed = async (resource: Resource, object: DeepReadonly<KubeObject>): Promise<void> => {
    const named = names.get(resource) ?? [];
    // The copy of a cache is not written to.
    const own = wholeObject(resource, object as KubeObject);
    if ((named.length > 0 && !named.includes(own.metadata.name)) || !view.isOurs(own)) return;
    // The list is shown already, as one table.
    if (
      shown.get(own.metadata.uid)?.metadata.resourceVersion === own.metadata.resourceVersion &&
      own.metadata.deletionTimestamp === undefined
    )
      return;
    shown.set(own.metadata.uid, own);
    await print(own);
  };
  const stop = new AbortController();
  const signal = AbortSignal.any([session.signal, stop.signal]);
  const followed = view.resources.map((resource) =>
    followObjects(
      client,
      { resource, namespace, ...omitUndefined({ labelSelector: selector }) },
      (object) => changed(resource, object),
      signal,
    ),
  );
  try {
    await Promise.all(followed);
  } finally {
    stop.abort();
  }
  return ExitCode.Interrupted;
}
