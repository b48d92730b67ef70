import type { Listed } from './key-value-store.ts';

/** The objects of an answer to ListObjectsV2 with `encoding-type=url`. */
export function readListing(xml: string): readonly Listed[] {
  return [...xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)].flatMap(([, content = '']) => {
    const key = /<Key>(.*?)<\/Key>/s.exec(content)?.[1];
    const bytes = Number(/<Size>(\d+)<\/Size>/.exec(content)?.[1]);
    return key === undefined ? [] : [{ key: decoded(key), bytes: Number.isFinite(bytes) ? bytes : 0 }];
  });
}

/** Servers without this encoding write XML entities instead, and no percent sign as an escape. */
function decoded(key: string): string {
  const text = key.replaceAll('+', ' ').replaceAll(/&(amp|lt|gt|quot|apos);/g, (_, name: string) => ENTITIES[name] ?? '');
  try {
    return decodeURIComponent(text);
  } catch (error) {
    if (error instanceof URIError) return text;
    throw error;
  }
}
const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
