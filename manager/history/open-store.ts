import type { Logger } from '../../shared/runtime/logger.ts';
import type { KeyValueStore, StoreUse } from './key-value-store.ts';
import type { S3Credentials } from './s3-store.ts';
import type { StoreAddress } from './store-address.ts';

/** Opens the store, and only then loads its client. Throws where a directory is unusable, or must not be created. */
export async function openStore(
  address: StoreAddress,
  credentials: S3Credentials | undefined,
  log: Logger,
  use: StoreUse = {},
): Promise<KeyValueStore> {
  switch (address.kind) {
    case 'Directory': {
      const { openSqliteStore } = await import('./sqlite-store.ts');
      return openSqliteStore(address.path, use);
    }
    case 'Redis': {
      const { openRedisStore } = await import('./redis-store.ts');
      return openRedisStore(address.url, address.prefix, (error) => log.warn('the Redis of the history is in trouble', { error }));
    }
    case 'S3': {
      const { openS3Store } = await import('./s3-store.ts');
      if (credentials === undefined)
        throw new Error(
          'object storage needs AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the environment, or in the files of --history-credentials-directory of the manager',
        );
      return openS3Store(address, credentials);
    }
  }
}
