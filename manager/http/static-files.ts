import type { ApiAnswer, ApiRequest, Route } from './route.ts';

/** A static file with its headers. */
export type StaticFile = {
  /** The path from the root: `assets/page-1a2b.js`. */
  readonly path: string;
  readonly body: Uint8Array;
  /** The body by content coding, smallest first. */
  readonly encoded: readonly { readonly coding: 'br' | 'gzip'; readonly body: Uint8Array }[];
  /** A digest of the body. */
  readonly etag: string;
};

/** The page at `/`. */
const INDEX = 'index.html';

/** Routes of these files only: no other path is looked up on the disk. */
export function staticRoutes(files: readonly StaticFile[]): readonly Route[] {
  return files.map((file) => ({
    method: 'GET',
    path: file.path === INDEX ? '/' : `/${file.path}`,
    summary: 'a file of the page',
    access: 'Own',
    answers: {},
    handle: async (request) => answerWith(file, request),
  }));
}

/**
 * Content security policy of the page: scripts and styles come from this server alone, connections go to it alone, and no frame may show
 * the page. Inline styles are forbidden, too, but not single properties that scripts set (`element.style`).
 */
const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join('; ');

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  txt: 'text/plain; charset=utf-8',
};

function answerWith({ path, body, encoded, etag }: StaticFile, { caller }: ApiRequest): ApiAnswer {
  // Names of assets change with their contents.
  const cacheControl = path.startsWith('assets/') ? 'public, max-age=31536000, immutable' : 'no-cache';
  const headers = {
    etag,
    'cache-control': cacheControl,
    vary: 'accept-encoding',
    'content-security-policy': PAGE_POLICY,
    'x-frame-options': 'DENY',
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
  };
  if (isKnown(etag, caller.header('if-none-match'))) return { kind: 'Bytes', status: 304, headers };
  const accepted = codingsOf(caller.header('accept-encoding') ?? '');
  const smallest = encoded.find(({ coding }) => accepted.has(coding));
  return {
    kind: 'Bytes',
    status: 200,
    headers: {
      ...headers,
      'content-type': TYPES[path.slice(path.lastIndexOf('.') + 1)] ?? 'application/octet-stream',
      ...(smallest === undefined ? {} : { 'content-encoding': smallest.coding }),
    },
    body: smallest?.body ?? body,
  };
}

/** Proxies that compress by themselves turn an etag into a weak one. */
const isKnown = (etag: string, header: string | undefined): boolean =>
  header?.split(',').some((each) => each.trim().replace(/^W\//, '') === etag) === true;

/** The codings that `gzip, br;q=1, zstd;q=0` accepts. */
const codingsOf = (header: string): ReadonlySet<string> =>
  new Set(
    header.split(',').flatMap((each) => {
      const [name = '', ...parameters] = each.split(';').map((part) => part.trim().toLowerCase());
      return parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter)) ? [] : [name];
    }),
  );
