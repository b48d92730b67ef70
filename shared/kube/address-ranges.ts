import { BlockList, isIP } from 'node:net';

/** Ranges of IP addresses, from texts such as `169.254.0.0/16` or `fe80::/10`. */
export interface AddressRanges {
  /** The range that an address is in, as it was written; undefined for none, and for what is no address. */
  rangeOf(address: string): string | undefined;
}

/** Throws for a text that is no range; see {@link isAddressRange}. */
export function createAddressRanges(ranges: readonly string[]): AddressRanges {
  const lists = ranges.map((range) => ({ range, list: listOf(range) }));
  return {
    rangeOf(address) {
      const target = reached(address);
      const version = isIP(target);
      if (version === 0) return undefined;
      return lists.find(({ list }) => list.check(target, version === 4 ? 'ipv4' : 'ipv6'))?.range;
    },
  };
}

/** An address and the length of its prefix: `10.0.0.0/8`, `::1/128`. */
export function isAddressRange(text: string): boolean {
  const [address = '', length = '', ...rest] = text.split('/');
  const version = isIP(address);
  return (
    rest.length === 0 && version !== 0 && !address.includes('%') && /^\d{1,3}$/.test(length) && Number(length) <= (version === 4 ? 32 : 128)
  );
}

function listOf(range: string): BlockList {
  if (!isAddressRange(range)) throw new Error(`${JSON.stringify(range)} is no range of addresses; write one such as 169.254.0.0/16`);
  const [address = '', length] = range.split('/');
  const list = new BlockList();
  list.addSubnet(address, Number(length), isIP(address) === 4 ? 'ipv4' : 'ipv6');
  return list;
}

const MAPPED = /^(?:0*:){2,5}(?:0*:)?ffff:(?:(\d+\.\d+\.\d+\.\d+)|([\da-f]{1,4}):([\da-f]{1,4}))$/i;

/** What a connection to the address reaches: an IPv4 address in IPv6's notation is that address, and none at all is this machine. */
function reached(address: string): string {
  const plain = address.replace(/^\[|\]$/g, '').replace(/%.*$/, '');
  const [, dotted, high, low] = MAPPED.exec(plain) ?? [];
  const target = dotted ?? (high === undefined || low === undefined ? plain : dottedOf(high, low));
  if (target === '0.0.0.0') return '127.0.0.1';
  return isIP(target) === 6 && /^[0:]+$/.test(target) ? '::1' : target;
}

const dottedOf = (high: string, low: string): string =>
  [high, low].flatMap((word) => [Number.parseInt(word, 16) >> 8, Number.parseInt(word, 16) & 255]).join('.');
