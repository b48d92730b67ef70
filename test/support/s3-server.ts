/** Object storage for a test: as much of S3 as history speaks, with signatures checked by its own reckoning. */
import { createHash, createHmac } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export type TestS3 = {
  readonly endpoint: string;
  readonly objects: Map<string, Buffer>;
  /** Secrets by the ids of the keys that are good: at first {@link S3_KEYS}. */
  readonly keys: Map<string, string>;
  stop(): Promise<void>;
};

export const S3_KEYS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret/of the test', sessionToken: undefined };

export async function startS3(): Promise<TestS3> {
  const objects = new Map<string, Buffer>();
  const keys = new Map([[S3_KEYS.accessKeyId, S3_KEYS.secretAccessKey]]);
  const server = createServer((request, response) => {
    void (async () => {
      const body = await bodyOf(request);
      const url = new URL(request.url ?? '/', 'http://s3');
      if (!isSigned(request, url, body, keys)) {
        response.writeHead(403).end('<Error><Code>SignatureDoesNotMatch</Code></Error>');
        return;
      }
      const [, , ...rest] = url.pathname.split('/');
      const key = rest.map(decodeURIComponent).join('/');
      if (request.method === 'PUT') objects.set(key, body);
      else if (request.method === 'DELETE') objects.delete(key);
      else if (url.searchParams.get('list-type') === '2') return void response.end(listing(objects, url.searchParams));
      else {
        const found = objects.get(key);
        if (found === undefined) response.writeHead(404).end('<Error><Code>NoSuchKey</Code></Error>');
        else response.end(found);
        return;
      }
      response.writeHead(request.method === 'DELETE' ? 204 : 200).end();
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    objects,
    keys,
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
}

function listing(objects: ReadonlyMap<string, Buffer>, query: URLSearchParams): string {
  const keys = [...objects.keys()]
    .filter((key) => key.startsWith(query.get('prefix') ?? '') && key > (query.get('start-after') ?? ''))
    .toSorted((a, b) => (a < b ? -1 : 1))
    .slice(0, Number(query.get('max-keys')));
  const contents = keys.map((key) => `<Contents><Key>${encodeURIComponent(key)}</Key><Size>${objects.get(key)?.length}</Size></Contents>`);
  return `<?xml version="1.0"?><ListBucketResult>${contents.join('')}</ListBucketResult>`;
}

/** AWS Signature Version 4, from its documentation. */
function isSigned(request: IncomingMessage, url: URL, body: Buffer, keys: ReadonlyMap<string, string>): boolean {
  const authorization = request.headers.authorization ?? '';
  const [, id = '', date = '', region = '', signed = '', signature = ''] =
    /^AWS4-HMAC-SHA256 Credential=([A-Z0-9]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/.exec(
      authorization,
    ) ?? [];
  const secret = keys.get(id);
  if (secret === undefined) return false;
  const payload = String(request.headers['x-amz-content-sha256'] ?? 'UNSIGNED-PAYLOAD');
  if (payload !== 'UNSIGNED-PAYLOAD' && payload !== createHash('sha256').update(body).digest('hex')) return false;
  const query = [...url.searchParams]
    .map(([name, value]) => `${strict(name)}=${strict(value)}`)
    .toSorted((a, b) => (a < b ? -1 : 1))
    .join('&');
  const path = url.pathname
    .split('/')
    .map((part) => strict(decodeURIComponent(part)))
    .join('/');
  const headers = signed.split(';').map((name) => `${name}:${String(request.headers[name] ?? '').trim()}\n`);
  const canonical = [request.method, path, query, headers.join(''), signed, payload].join('\n');
  const scope = `${date}/${region}/s3/aws4_request`;
  const time = String(request.headers['x-amz-date'] ?? '');
  const text = ['AWS4-HMAC-SHA256', time, scope, createHash('sha256').update(canonical).digest('hex')].join('\n');
  const key = ['s3', 'aws4_request'].reduce(hmac, hmac(hmac(Buffer.from(`AWS4${secret}`), date), region));
  return hmac(key, text).toString('hex') === signature;
}
const hmac = (key: Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest();
const strict = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);
