export type S3Address = {
  readonly kind: 'S3';
  /** Without a trailing slash. */
  readonly endpoint: string;
  readonly region: string;
  readonly bucket: string;
  /** The prefix of all keys; '' or with a trailing slash. */
  readonly prefix: string;
};

/** The address of the store of history. */
export type StoreAddress =
  | { readonly kind: 'Directory'; readonly path: string }
  | { readonly kind: 'Redis'; readonly url: string; readonly prefix: string }
  | S3Address;

const DEFAULT_REDIS_PREFIX = 'switchyard:history:';
const DEFAULT_REGION = 'us-east-1';

/** Throws an error without the address, which may contain a password. */
export function parseStoreAddress(given: string): StoreAddress {
  if (!/^[a-z0-9]+:\/\//.test(given)) {
    if (given === '') throw new Error('is empty');
    return { kind: 'Directory', path: given };
  }
  if (!URL.canParse(given)) throw new Error('is no URL');
  const url = new URL(given);
  if (url.protocol === 'redis:' || url.protocol === 'rediss:') {
    const prefix = url.searchParams.get('prefix') ?? DEFAULT_REDIS_PREFIX;
    url.search = '';
    return { kind: 'Redis', url: url.href, prefix };
  }
  if (url.protocol === 's3:') return s3Address(url);
  throw new Error('is neither a directory nor redis://, rediss:// or s3://');
}

function s3Address(url: URL): S3Address {
  const region = url.searchParams.get('region') ?? DEFAULT_REGION;
  const endpoint = url.searchParams.get('endpoint') ?? `https://s3.${region}.amazonaws.com`;
  const bucket = url.hostname;
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket)) throw new Error('names no bucket, as in s3://BUCKET/PREFIX');
  if (!/^https?:\/\//.test(endpoint) || !URL.canParse(endpoint)) throw new Error('has an endpoint that is no http:// or https:// URL');
  const path = decodeURIComponent(url.pathname).replace(/^\/+|\/+$/g, '');
  return { kind: 'S3', endpoint: endpoint.replace(/\/+$/, ''), region, bucket, prefix: path === '' ? '' : `${path}/` };
}
