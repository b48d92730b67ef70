import { FlagError } from '../../shared/runtime/flags.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { createHistory, type History } from '../history/history.ts';
import type { StoreUse } from '../history/key-value-store.ts';
import { openStore } from '../history/open-store.ts';
import { parseStoreAddress } from '../history/store-address.ts';
import { CommandError } from './command-error.ts';
import { ExitCode } from './exit-codes.ts';
import type { Session } from './session.ts';

/** Does something with the history. Throws CommandError where it cannot be read. */
export async function withHistory<T>(
  address: string,
  session: Session,
  act: (history: History) => Promise<T>,
  { write = false }: Pick<StoreUse, 'write'> = {},
): Promise<T> {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN: sessionToken } = session.environment;
  const credentials = accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey, sessionToken } : undefined;
  try {
    const parsed = parseStoreAddress(address);
    const store = await openStore(parsed, credentials, silentLogger, { create: false, write });
    try {
      return await act(createHistory(store));
    } finally {
      await store.close();
    }
  } catch (error) {
    if (error instanceof CommandError || error instanceof FlagError) throw error;
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandError(`--history-store: ${why}; write what the manager was given there`, ExitCode.Unreachable, { cause: error });
  }
}
