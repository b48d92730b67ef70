/** A browser as far as cookies go: it keeps what a server sets, and follows redirects one by one. */
export class CookieJar {
  readonly cookies = new Map<string, string>();
  /** As set last, with attributes. */
  readonly set: string[] = [];

  async fetch(url: string, init: Omit<RequestInit, 'headers'> & { readonly headers?: Record<string, string> } = {}): Promise<Response> {
    const response = await fetch(url, { ...init, redirect: 'manual', headers: { ...init.headers, ...this.header() } });
    for (const each of response.headers.getSetCookie()) {
      this.set.push(each);
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(each) ?? [];
      if (value === '' || each.includes('Max-Age=0')) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return response;
  }

  header(): Record<string, string> {
    return this.cookies.size === 0 ? {} : { cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ') };
  }
}
