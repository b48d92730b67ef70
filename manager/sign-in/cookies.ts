/** Where cookies of the dashboard are sent: to the external URL of the dashboard, and nowhere else. */
export type CookieScope = { readonly isSecure: boolean; readonly path: string };

/** Browsers store 4,096 bytes of name, value and attributes; the HTTP server reads 16 KiB of headers. */
const PART_CHARACTERS = 3_700;
export const PARTS_MAX = 3;
export const VALUE_CHARACTERS_MAX = PART_CHARACTERS * PARTS_MAX;

/** The scope of a URL that ends with a slash. */
export function cookieScope(externalUrl: string): CookieScope {
  const { protocol, pathname } = new URL(externalUrl);
  return { isSecure: protocol === 'https:', path: pathname };
}

/** The name that a browser accepts only of the host itself, over HTTPS (RFC 6265bis, 4.1.3). */
const nameOf = (name: string, { isSecure, path }: CookieScope): string =>
  isSecure ? `${path === '/' ? '__Host-' : '__Secure-'}${name}` : name;

/**
 * `Set-Cookie` headers that store a value in as many cookies as it needs, and delete those of a longer value before. An empty value deletes
 * all. At most {@link VALUE_CHARACTERS_MAX} characters.
 */
export function setCookies(name: string, value: string, maxAgeSeconds: number, scope: CookieScope, partsMax = PARTS_MAX): string[] {
  const attributes = `; Path=${scope.path}; HttpOnly; SameSite=Lax${scope.isSecure ? '; Secure' : ''}`;
  return Array.from({ length: partsMax }, (_, index) => {
    const part = value.slice(index * PART_CHARACTERS, (index + 1) * PART_CHARACTERS);
    return `${nameOf(name, scope)}-${index}=${part}; Max-Age=${part === '' ? 0 : maxAgeSeconds}${attributes}`;
  });
}

/** The value of the header `Cookie`; undefined where there is none. A cookie that is sent twice is none. */
export function readCookie(header: string | undefined, name: string, scope: CookieScope): string | undefined {
  const pairs = (header ?? '').split(';').map((each) => each.trim());
  let value = '';
  for (let index = 0; index < PARTS_MAX; index++) {
    const prefix = `${nameOf(name, scope)}-${index}=`;
    const found = pairs.filter((each) => each.startsWith(prefix));
    if (found.length > 1) return undefined;
    const part = found[0]?.slice(prefix.length) ?? '';
    if (part === '') break;
    value += part;
  }
  return value === '' ? undefined : value;
}
