import { isForbidden } from '../../../shared/kube/api-error.ts';
import type { ClusterConnection } from '../cluster-connection.ts';
import { CommandError } from '../command-error.ts';
import { ExitCode } from '../exit-codes.ts';
import { UnreadableWorldError } from '../explain/world-reader.ts';
import { troubleWith } from '../trouble.ts';
import { NO_SERVER, serverUrl, type ServerChoice } from './flags.ts';
import { MANAGER_ADDRESS, readManagerAddress, type ManagerAddress } from './manager-address.ts';
import { contentOf, createManagerHttp, NoToken, UnknownCaller, type ManagerHttp } from './manager-http.ts';

/** The manager's answer, or why it was not asked. */
export type ManagerAnswer<T> = { readonly kind: 'Answer'; readonly value: T } | NoManager;
type NoManager = { readonly kind: 'NoManager'; readonly why: string };

type Connection = Pick<ClusterConnection, 'client' | 'credentials'>;

/** Whether the user has named a manager, which is then asked first. */
export const isNamed = ({ server }: Pick<ServerChoice, 'server'>): boolean => server !== undefined && server !== NO_SERVER;

/**
 * Asks the manager that the flags name, or that the cluster names. A manager that the cluster names and that cannot be asked counts as
 * none; trouble with one that the flags name is thrown, as are all refusals of the question.
 */
export async function askManager<T>(
  choice: ServerChoice,
  connection: Connection,
  ask: (manager: ManagerHttp) => Promise<T>,
): Promise<ManagerAnswer<T>> {
  const manager = await managerOf(choice, connection);
  if ('why' in manager) return manager;
  try {
    return { kind: 'Answer', value: await ask(manager) };
  } catch (error) {
    const isAbsent =
      error instanceof NoToken ||
      (error instanceof CommandError && error.exitCode === ExitCode.Unreachable && !(error instanceof UnknownCaller));
    if (isNamed(choice) || !isAbsent) throw error;
    return { kind: 'NoManager', why: error.message };
  } finally {
    await manager.close();
  }
}

/** The manager that the flags name, or that the cluster names; or why there is none. The caller closes it. */
export async function managerOf(choice: ServerChoice, { client, credentials }: Connection): Promise<ManagerHttp | NoManager> {
  if (choice.server === NO_SERVER) return { kind: 'NoManager', why: `--server ${NO_SERVER}: no manager is asked` };
  const address = isNamed(choice) ? { server: choice.server ?? '', ca: undefined } : await discovered(client);
  if ('why' in address) return address;
  const ca = choice['server-ca'] === undefined ? address.ca : contentOf('server-ca', choice['server-ca']);
  return createManagerHttp({ server: address.server, ca, tokenFile: choice['token-file'], credentials });
}

async function discovered(client: Connection['client']): Promise<ManagerAddress | NoManager> {
  const { namespace, name } = MANAGER_ADDRESS;
  const address = await readManagerAddress(client);
  if (address === undefined)
    return { kind: 'NoManager', why: `no manager is named: give --server, or have ConfigMap ${namespace}/${name} say where it is` };
  const server = serverUrl(address.server);
  if (server !== undefined) return { ...address, server };
  return {
    kind: 'NoManager',
    why: `ConfigMap ${namespace}/${name} names ${JSON.stringify(address.server)}, which gets no token: it is not an https:// URL`,
  };
}

/** Whether the API server, or what admission decides on, is closed to the user. */
export const isClosed = (error: unknown): error is Error =>
  error instanceof UnreadableWorldError || isForbidden(error) || (error instanceof CommandError && isForbidden(error.cause));

/**
 * What the user may read by their own rights, and where these do not suffice, or a manager is named, what the manager shows them. Throws
 * the refusal of the cluster, with why no manager answered.
 */
export async function ownOrManager<T>(
  choice: ServerChoice,
  connection: Connection & { readonly server: string },
  { own, manager }: { readonly own: () => Promise<T>; readonly manager: (manager: ManagerHttp) => Promise<T> },
): Promise<T> {
  let refused: Error | undefined;
  if (!isNamed(choice)) {
    try {
      return await own();
    } catch (error) {
      if (!isClosed(error)) throw error;
      refused = error;
    }
  }
  const answer = await askManager(choice, connection, manager);
  if (answer.kind === 'Answer') return answer.value;
  const trouble = refused instanceof UnreadableWorldError ? refused : troubleWith('the manager cluster', connection.server, refused);
  throw new CommandError(`${trouble instanceof Error ? trouble.message : ''}; ${answer.why}`, undefined, { cause: refused });
}
