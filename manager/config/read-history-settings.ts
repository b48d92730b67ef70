import { existsSync } from 'node:fs';
import path from 'node:path';
import { FlagError } from '../../shared/runtime/flags.ts';
import type { S3Credentials } from '../history/s3-store.ts';
import type { StoreAddress } from '../history/store-address.ts';
import { storeAddress, type HistoryConfig } from './history-flags.ts';
import { readSecretLine, readSecretWord } from './read-secret-file.ts';

export type HistorySettings = { readonly address: StoreAddress; readonly credentials: S3Credentials | undefined };

/**
 * The store and its keys, with what stands in the files. Throws a {@link FlagError} for a file that cannot be read or used, which quotes
 * nothing of it.
 */
export function readHistorySettings(
  { store, credentialsDirectory }: Pick<HistoryConfig, 'store' | 'credentialsDirectory'>,
  environment: Readonly<Record<string, string | undefined>>,
): HistorySettings {
  const address = store.kind === 'File' ? readAddress(store.path) : store;
  return { address, credentials: credentialsDirectory === undefined ? credentialsIn(environment) : readCredentials(credentialsDirectory) };
}

const STORE_FILE = '--history-store-file';
const CREDENTIALS = '--history-credentials-directory';

function readAddress(file: string): StoreAddress {
  const given = readSecretWord(STORE_FILE, file, 'write one URL into it, such as s3://jobs/history');
  try {
    return storeAddress(given);
  } catch (error) {
    throw error instanceof FlagError ? new FlagError(`${STORE_FILE}: ${JSON.stringify(file)} ${error.message}`, { cause: error }) : error;
  }
}

/** The names are those of a mounted Secret, and of the variables that all programs for S3 know. */
function readCredentials(directory: string): S3Credentials {
  // A store may make keys of any text.
  const line = (name: string): string =>
    readSecretLine(CREDENTIALS, path.join(directory, name), `write the value of ${name} into it, and nothing else`);
  const [accessKeyId, secretAccessKey] = [line('AWS_ACCESS_KEY_ID'), line('AWS_SECRET_ACCESS_KEY')];
  const sessionToken = existsSync(path.join(directory, 'AWS_SESSION_TOKEN')) ? line('AWS_SESSION_TOKEN') : undefined;
  return { accessKeyId, secretAccessKey, sessionToken };
}

function credentialsIn(environment: Readonly<Record<string, string | undefined>>): S3Credentials | undefined {
  const { AWS_ACCESS_KEY_ID: accessKeyId, AWS_SECRET_ACCESS_KEY: secretAccessKey, AWS_SESSION_TOKEN: sessionToken } = environment;
  return accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey, sessionToken } : undefined;
}
