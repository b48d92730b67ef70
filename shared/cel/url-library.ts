import type { Environment } from '@marcbachmann/cel-js';

/** A URL as Go's url.ParseRequestURI accepts it: absolute, or an absolute path. */
class CelUrl {
  readonly scheme: string;
  readonly url: URL;
  constructor(text: string) {
    const isPath = text.startsWith('/');
    if (!isPath && !/^[A-Za-z][A-Za-z0-9+.-]*:/.test(text)) {
      throw new Error(`URL parse error during conversion from string: parse ${JSON.stringify(text)}: invalid URI for request`);
    }
    this.scheme = isPath ? '' : text.slice(0, text.indexOf(':')).toLowerCase();
    this.url = new URL(text, 'relative://');
  }
}

/** `url('https://host:1/path?q=1')` and its parts. */
export function registerUrlLibrary(environment: Environment): void {
  environment
    .registerType('net.URL', { ctor: CelUrl, fields: {} })
    .registerOperator(
      'net.URL == net.URL',
      (left: CelUrl, right: CelUrl) => left.url.href === right.url.href && left.scheme === right.scheme,
    )
    .registerFunction('url(string): net.URL', (text: string) => new CelUrl(text))
    .registerFunction('isURL(string): bool', isUrl)
    .registerFunction('net.URL.getScheme(): string', ({ scheme }: CelUrl) => scheme)
    .registerFunction('net.URL.getHost(): string', ({ url }: CelUrl) => url.host)
    .registerFunction('net.URL.getHostname(): string', ({ url }: CelUrl) => url.hostname.replace(/^\[|\]$/g, ''))
    .registerFunction('net.URL.getPort(): string', ({ url }: CelUrl) => url.port)
    .registerFunction('net.URL.getEscapedPath(): string', ({ url }: CelUrl) => url.pathname)
    .registerFunction('net.URL.getQuery(): map<string, list<string>>', ({ url }: CelUrl) => {
      const query: Record<string, string[]> = {};
      for (const [key, value] of url.searchParams) (query[key] ??= []).push(value);
      return query;
    });
}

function isUrl(text: string): boolean {
  try {
    return new CelUrl(text).url.href !== '';
  } catch {
    return false;
  }
}
