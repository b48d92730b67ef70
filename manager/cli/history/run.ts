import { toWireTime } from '../../../shared/api/wire-time.ts';
import type { Resource } from '../../../shared/api/resources.ts';
import { FlagError } from '../../../shared/runtime/flags.ts';
import { omitUndefined } from '../../../shared/runtime/omit-undefined.ts';
import { actInWords } from '../../api/job-acts.ts';
import type { HistoryPods, HistoryRecord } from '../../history/history-record.ts';
import { qualifiedName, resourceOfWork, workPath } from '../../work-kind/qualified-name.ts';
import { connect, type ClusterChoice } from '../cluster-connection.ts';
import { CommandError } from '../command-error.ts';
import { ExitCode } from '../exit-codes.ts';
import { withHistory } from '../history-store.ts';
import type { NamedJob } from '../jobs/operands.ts';
import { plain } from '../plain-text.ts';
import { asJson, asYaml } from '../rendering.ts';
import type { ServerChoice } from '../server/flags.ts';
import type { ManagerHttp } from '../server/manager-http.ts';
import { askManager } from '../server/with-manager.ts';
import type { Session } from '../session.ts';
import { formatTable } from '../text-table.ts';
import { withCluster } from '../with-cluster.ts';
import { isWordFor } from '../work-kinds.ts';
import { historyTable, podLines } from './history-table.ts';

export type HistoryConfig = ClusterChoice &
  ServerChoice & {
    /** Undefined: the manager is asked. */
    readonly store: string | undefined;
    readonly job: (NamedJob & { /** The operand says so. */ readonly isJob: boolean }) | undefined;
    readonly namespace: string | undefined;
    readonly 'all-namespaces': boolean;
    readonly outcome: HistoryRecord['outcome'] | undefined;
    readonly 'created-by': string | undefined;
    /** Milliseconds. */
    readonly since: number | undefined;
    readonly canaries: boolean;
    readonly limit: number;
    readonly output: 'table' | 'json' | 'yaml';
  };

/** Records with the ends of their pods, where these are wanted. */
type Found = { readonly records: readonly HistoryRecord[]; readonly pods: ReadonlyMap<string, readonly HistoryPods[]> };

export async function runHistory(config: HistoryConfig, session: Session): Promise<number> {
  const { job, output } = config;
  const { records, pods } = await found(config, session);
  if (records.length === 0 && output === 'table') {
    await session.errors.write('There is no such history.\n');
    return ExitCode.Done;
  }
  const items = records.map((record) => ({ ...record, copies: pods.get(record.uid) ?? [] }));
  if (output === 'json') await session.output.write(asJson({ items }));
  else if (output === 'yaml') await session.output.write(asYaml({ items }));
  else {
    const { width } = session.output;
    const lines = formatTable(historyTable(records, config['all-namespaces'], session.now()), width);
    const ofPods = job === undefined ? [] : [...pods.values()].flatMap((copies) => podLines(copies));
    const ofUsers = job === undefined ? [] : records.flatMap(usersIn);
    await session.output.write([...lines, ...ofUsers, ...ofPods].map((line) => `${line}\n`).join(''));
  }
  return ExitCode.Done;
}

/** The text before the slash is a namespace where it has such a Job; else it may be a kind. */
async function found(config: HistoryConfig, session: Session): Promise<Found> {
  const { job, store } = config;
  const ask = (where: Where): Promise<Found> =>
    store === undefined ? fromManager(config, where, session) : fromStore(store, config, where, session);
  const own = async (word?: string): Promise<Found> =>
    ask({ namespace: config.namespace ?? (await contextNamespace(config)), ...omitUndefined({ word }) });
  const first = job?.namespace;
  if (config['all-namespaces']) return ask({ namespace: undefined });
  if (first === undefined) return own(job?.isJob === true ? 'job' : undefined);
  if (first.includes('.')) return own(first);
  const there = await ask({ namespace: first }).catch((error: unknown) => {
    if (!(error instanceof CommandError)) throw error;
    return error;
  });
  if (!(there instanceof CommandError) && there.records.length > 0) return there;
  const ofKind = await own(first).catch((error: unknown) => {
    if (!(error instanceof CommandError || error instanceof FlagError)) throw error;
  });
  if (ofKind !== undefined && ofKind.records.length > 0) return ofKind;
  if (there instanceof CommandError) throw there;
  return there;
}

/** `namespace` undefined: all. `word`: only objects of the kind that it names. */
type Where = { readonly namespace: string | undefined; readonly word?: string };

/** Of one kind, and no more than were asked for. */
const chosen = (records: readonly HistoryRecord[], { word }: Where, limit: number): readonly HistoryRecord[] =>
  word === undefined ? records : records.filter((record) => isWordFor(resourceIn(record), word)).slice(0, limit);

const resourceIn = ({ name, kind = 'Job', resource }: HistoryRecord): Pick<Resource, 'kind' | 'plural' | 'group'> => ({
  kind,
  ...resourceOfWork(qualifiedName(resource, name)),
});

const fromStore = (store: string, config: HistoryConfig, where: Where, session: Session): Promise<Found> =>
  withHistory(store, session, async (history) => {
    const { job, outcome, 'created-by': user, since, output } = config;
    const { namespace, word } = where;
    const limit = word === undefined ? config.limit : OF_NAME_MAX;
    const sinceMs = since === undefined ? undefined : session.now() - since;
    const hidesCanaries = job === undefined && !config.canaries;
    const all = await history.query({ limit, hidesCanaries, ...omitUndefined({ namespace, name: job?.name, outcome, user, sinceMs }) });
    const records = chosen(all, where, config.limit);
    const pods = new Map<string, readonly HistoryPods[]>();
    if (job !== undefined || output !== 'table') for (const { uid } of records) pods.set(uid, await history.podsOf(uid));
    return { records, pods };
  });

/** With the user's token: the records of one namespace, and of a Job that is named the ends of the pods of the last of its name. */
const fromManager = (config: HistoryConfig, where: Where, session: Session): Promise<Found> =>
  withCluster(config, async (connection) => {
    const { namespace, word } = where;
    if (namespace === undefined)
      throw new CommandError('--all-namespaces: the manager shows one namespace; name it, or write --history-store', ExitCode.Usage);
    const { job, outcome, 'created-by': user, since, limit } = config;
    const answer = await askManager(config, connection, (manager) =>
      askHistory(manager, namespace, (records) => chosen(records, where, limit), {
        limit: String(word === undefined ? Math.min(limit, MANAGER_LIMIT_MAX) : OF_NAME_MAX),
        ...(config.canaries ? { canaries: '1' } : {}),
        ...omitUndefined({ name: job?.name, outcome, user, since: since === undefined ? undefined : toWireTime(session.now() - since) }),
      }),
    );
    if (answer.kind === 'Answer') return answer.value;
    throw new CommandError(`--history-store: is missing; write what the manager was given there. ${answer.why}`, ExitCode.Usage);
  });

/** The manager answers with no more records at once. */
const MANAGER_LIMIT_MAX = 1_000;
/** Records of one name that are looked through for those of a kind. */
const OF_NAME_MAX = 1_000;

async function askHistory(
  manager: ManagerHttp,
  namespace: string,
  choose: (records: readonly HistoryRecord[]) => readonly HistoryRecord[],
  query: Readonly<Record<string, string>>,
): Promise<Found> {
  const { body } = await manager.answerTo('GET', `/apis/history/v1/namespaces/${encodeURIComponent(namespace)}/jobs`, { query });
  const records = choose((body as { readonly items: readonly HistoryRecord[] }).items);
  const [last] = records;
  if (query['name'] === undefined || last === undefined) return { records, pods: new Map() };
  const path = workPath({ namespace, name: qualifiedName(last.resource, last.name) });
  const one = await manager.answerTo('GET', `/apis/history/v1/${path}`);
  const { uid, copies } = one.body as { readonly uid: string; readonly copies: readonly HistoryPods[] };
  return { records, pods: new Map([[uid, copies]]) };
}

const usersIn = ({ submittedBy, acts = [] }: HistoryRecord): string[] => [
  ...(submittedBy === undefined ? [] : [`submitted over HTTP by ${plain(submittedBy)}`]),
  ...acts.map((act) => plain(actInWords(act))),
];

/** That of the kubeconfig, if there is one. */
export async function contextNamespace(choice: ClusterChoice): Promise<string> {
  const { namespace, client } = connect(choice);
  await client.close();
  return namespace;
}
