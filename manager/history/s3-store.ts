import { AwsClient } from 'aws4fetch';
import type { Entry, KeyValueStore, Listed } from './key-value-store.ts';
import { readListing } from './s3-listing.ts';
import type { S3Address } from './store-address.ts';

export type S3Credentials = { readonly accessKeyId: string; readonly secretAccessKey: string; readonly sessionToken: string | undefined };

/** Objects of a bucket on any S3-compatible server; addressed by path, which all of them support. */
export function openS3Store({ endpoint, region, bucket, prefix }: S3Address, credentials: S3Credentials): KeyValueStore {
  const { sessionToken, ...keys } = credentials;
  const client = new AwsClient({ ...keys, ...(sessionToken !== undefined && { sessionToken }), region, service: 's3', retries: 2 });
  const closed = new AbortController();

  async function send(path: string, init: RequestInit = {}, absent?: number): Promise<Response | undefined> {
    const signal = AbortSignal.any([closed.signal, AbortSignal.timeout(REQUEST_MS)]);
    const response = await client.fetch(`${endpoint}/${bucket}${path}`, { ...init, signal });
    if (response.ok) return response;
    const said = (await response.text()).slice(0, 300);
    if (response.status === absent) return undefined;
    throw new Error(
      `${init.method ?? 'GET'} in bucket ${bucket}: ${response.status} ${/<Code>([A-Za-z]{1,64})<\/Code>/.exec(said)?.[1] ?? ''}`,
    );
  }

  const pathOf = (key: string): string => `/${`${prefix}${key}`.split('/').map(encodeURIComponent).join('/')}`;
  /** Runs a few requests at a time, so that their latencies overlap. */
  async function each<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
    for (let from = 0; from < items.length; from += CONCURRENCY) await Promise.all(items.slice(from, from + CONCURRENCY).map(work));
  }

  return {
    put: (entries: readonly Entry[]) =>
      each(entries, ({ key, value }) => send(pathOf(key), { method: 'PUT', body: new Uint8Array(value) })),
    async get(key) {
      const response = await send(pathOf(key), {}, 404);
      return response && Buffer.from(await response.arrayBuffer());
    },
    async list({ prefix: start, after, limit }): Promise<readonly Listed[]> {
      const query = new URLSearchParams({
        'list-type': '2',
        'encoding-type': 'url',
        prefix: `${prefix}${start}`,
        'max-keys': String(limit),
      });
      if (after !== undefined && after !== '') query.set('start-after', `${prefix}${after}`);
      const response = await send(`?${query}`);
      const listing = readListing((await response?.text()) ?? '');
      return listing.filter(({ key }) => key.startsWith(prefix)).map(({ key, bytes }) => ({ key: key.slice(prefix.length), bytes }));
    },
    delete: (keys) => each(keys, (key) => send(pathOf(key), { method: 'DELETE' }, 404)),
    async close() {
      closed.abort(new Error('the store is closed'));
    },
  };
}

const REQUEST_MS = 10_000;
const CONCURRENCY = 8;
