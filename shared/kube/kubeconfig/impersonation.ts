import type { Impersonation } from './kubeconfig.ts';

/** The headers by which a request acts as somebody else; names in lower case. Several groups or values are several headers of one name. */
export function impersonationHeaders({ user, uid, groups, extra }: Impersonation): Record<string, string | string[]> {
  return {
    ...(user === undefined ? {} : { 'impersonate-user': user }),
    ...(uid === undefined ? {} : { 'impersonate-uid': uid }),
    ...(groups.length === 0 ? {} : { 'impersonate-group': [...groups] }),
    ...Object.fromEntries([...extra].map(([key, values]) => [extraHeader(key), [...values]])),
  };
}

/** Keys of extra fields may hold what a header's name may not, such as a slash: the API server undoes percent encoding. */
export function extraHeader(key: string): string {
  const bytes = [...Buffer.from(key, 'utf8')];
  const name = bytes
    .map((byte) => (/[\w!#$&'*+.^`|~-]/.test(String.fromCharCode(byte)) ? String.fromCharCode(byte) : escaped(byte)))
    .join('')
    .toLowerCase();
  return `impersonate-extra-${name}`;
}

const escaped = (byte: number): string => `%${byte.toString(16).padStart(2, '0')}`;
