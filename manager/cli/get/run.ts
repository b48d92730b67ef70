import type { DeepReadonly, KubeObject } from '../../../shared/api/kubernetes.ts';
import { apiVersionOf } from '../../../shared/api/resources.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { paintFor } from '../colours.ts';
import { withCluster } from '../with-cluster.ts';
import type { ClusterChoice } from '../cluster-connection.ts';
import { ExitCode } from '../exit-codes.ts';
import { followObjects } from '../follow-objects.ts';
import { plain } from '../plain-text.ts';
import { asJson, asYaml } from '../rendering.ts';
import type { Session } from '../session.ts';
import type { Column, KindView } from './kinds.ts';
import { objectTable, type TableStyle } from './object-table.ts';

export type GetConfig = ClusterChoice & {
  readonly view: KindView;
  /** None: all. */
  readonly names: readonly string[];
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
    const { view, watch } = config;
    const namespace = !view.resource.namespaced || config['all-namespaces'] ? '' : (config.namespace ?? connection.namespace);
    // Also where changes are followed: only this says why something cannot be read.
    const objects = await readObjects(connection.client, config, namespace);
    if (!watch) return show(config, session, namespace, chosen(objects, config, session.now()));
    return follow(connection.client, config, session, namespace, objects);
  });

async function readObjects(client: KubeClient, { view, names, selector }: GetConfig, namespace: string): Promise<KubeObject[]> {
  const { resource } = view;
  if (names.length > 0) return Promise.all(names.map((name) => client.get(resource, { namespace, name })));
  const { items } = await client.list(resource, { namespace, ...omitUndefined({ labelSelector: selector }) });
  return items.filter((item) => view.isOurs(item));
}

/** Those in the wanted states, in the wanted order. */
function chosen(objects: readonly KubeObject[], { view, state, column }: GetConfig, nowMs: number): readonly KubeObject[] {
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

async function show(config: GetConfig, session: Session, namespace: string, objects: readonly KubeObject[]): Promise<number> {
  const { view, names, output } = config;
  const whole = objects.map((object) => wholeObject(view, object));
  const document = names.length === 1 ? whole[0] : { apiVersion: 'v1', kind: 'List', items: whole };
  switch (output) {
    case 'json':
      await session.output.write(asJson(document));
      return ExitCode.Done;
    case 'yaml':
      await session.output.write(asYaml(document));
      return ExitCode.Done;
    case 'name':
      await session.output.write(objects.map((object) => `${nameOf(view, object)}\n`).join(''));
      return ExitCode.Done;
    case 'table':
    case 'wide':
      if (objects.length === 0) {
        const where = !view.resource.namespaced || namespace === '' ? '' : ` in namespace ${plain(namespace)}`;
        const more = `${config.selector === undefined ? '' : ' with these labels'}${config.state === undefined ? '' : ' in these states'}`;
        await session.errors.write(`There are no ${view.name}${where}${more}.\n`);
        return ExitCode.Done;
      }
      await session.output.write(lines(objectTable(view, objects, styleOf(config, session, namespace))));
      return ExitCode.Done;
  }
}

const lines = (all: readonly string[]): string => all.map((line) => `${line}\n`).join('');
const nameOf = ({ resource }: KindView, { metadata }: KubeObject): string =>
  `${resource.kind.toLowerCase()}${resource.group === '' ? '' : `.${resource.group}`}/${plain(metadata.name)}`;

/** Lists leave kind and version out of their items. */
const wholeObject = ({ resource }: KindView, { metadata, ...object }: KubeObject): KubeObject => {
  // As kubectl: who wrote which field is not what is asked for.
  const { managedFields: _managedFields, ...shown } = metadata as KubeObject['metadata'] & { readonly managedFields?: unknown };
  return { apiVersion: apiVersionOf(resource), kind: resource.kind, metadata: shown, ...object };
};

const styleOf = ({ view, output }: GetConfig, { output: stream, now }: Session, namespace: string): TableStyle => ({
  wide: output === 'wide',
  namespaces: view.resource.namespaced && namespace === '',
  width: stream.width,
  nowMs: now(),
  paint: paintFor(stream),
});

/** What there is, then every change, until the session is interrupted. Lines are as wide as all objects so far need. */
async function follow(
  client: KubeClient,
  config: GetConfig,
  session: Session,
  namespace: string,
  objects: readonly KubeObject[],
): Promise<number> {
  const { view, names, output, selector } = config;
  const shown = new Map<string, KubeObject>();
  const isWanted = ({ metadata }: KubeObject): boolean => names.length === 0 || names.includes(metadata.name);
  let headed = false;
  const print = async (object: KubeObject): Promise<void> => {
    if (output === 'json') return session.output.write(asJson(wholeObject(view, object)));
    if (output === 'yaml') return session.output.write(`${headed ? '---\n' : ''}${asYaml(wholeObject(view, object))}`);
    if (output === 'name') return session.output.write(`${nameOf(view, object)}\n`);
    const others = [...shown.values()].filter(({ metadata }) => metadata.uid !== object.metadata.uid);
    const table = objectTable(view, [...others, object], styleOf(config, session, namespace));
    const before = objectTable(view, others, styleOf(config, session, namespace)).length;
    return session.output.write(lines([...(headed ? [] : table.slice(0, 1)), ...table.slice(Math.max(1, before))]));
  };
  if (output === 'table' || output === 'wide') {
    for (const object of objects) shown.set(object.metadata.uid, object);
    if (objects.length > 0) await session.output.write(lines(objectTable(view, objects, styleOf(config, session, namespace))));
    headed = objects.length > 0;
  }
  const changed = async (object: DeepReadonly<KubeObject>): Promise<void> => {
    // The copy of a cache is not written to.
    const own = object as KubeObject;
    if (!isWanted(own) || !view.isOurs(own)) return;
    // The list is shown already, as one table.
    if (
      shown.get(own.metadata.uid)?.metadata.resourceVersion === own.metadata.resourceVersion &&
      own.metadata.deletionTimestamp === undefined
    )
      return;
    shown.set(own.metadata.uid, own);
    await print(own);
    headed = true;
  };
  await followObjects(
    client,
    { resource: view.resource, namespace, ...omitUndefined({ labelSelector: selector }) },
    changed,
    session.signal,
  );
  return ExitCode.Interrupted;
}
