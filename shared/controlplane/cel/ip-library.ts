import { BlockList, isIP, isIPv4 } from 'node:net';
import type { Environment } from '@marcbachmann/cel-js';
import type { Sized } from './call-cost.ts';

class Ip implements Sized {
  readonly text: string;
  constructor(text: string) {
    // Zones and IPv4-mapped addresses are refused, as by Kubernetes.
    if (isIP(text) === 0 || text.includes('%') || /^::ffff:\d+\./i.test(text)) {
      throw new Error(`IP Address ${JSON.stringify(text)} parse error during conversion from string`);
    }
    this.text = isIPv4(text) ? text : canonicalIpv6(text);
  }
  get family(): 4 | 6 {
    return isIPv4(this.text) ? 4 : 6;
  }
  get costSize(): number {
    return this.family === 4 ? 4 : 16;
  }
}

class Cidr implements Sized {
  readonly ip: Ip;
  readonly prefixLength: number;
  constructor(text: string) {
    const match = /^(.+)\/(\d{1,3})$/.exec(text);
    const bits = Number(match?.[2]);
    if (match?.[1] === undefined || isIP(match[1]) === 0 || bits > (isIPv4(match[1]) ? 32 : 128)) {
      throw new Error(`network address parse error during conversion from string: invalid CIDR address: ${text}`);
    }
    this.ip = new Ip(match[1]);
    this.prefixLength = bits;
  }
  get costSize(): number {
    return Math.ceil(this.prefixLength / 8);
  }
  contains(ip: Ip): boolean {
    if (ip.family !== this.ip.family) return false;
    const block = new BlockList();
    block.addSubnet(this.ip.text, this.prefixLength, this.ip.family === 4 ? 'ipv4' : 'ipv6');
    return block.check(ip.text, ip.family === 4 ? 'ipv4' : 'ipv6');
  }
}

const canonicalIpv6 = (text: string): string => new URL(`http://[${text}]`).hostname.slice(1, -1);
const parses = (make: () => unknown): boolean => {
  try {
    return make() !== undefined;
  } catch {
    return false;
  }
};
const inRange =
  (...ranges: string[]) =>
  (ip: Ip): boolean =>
    ranges.some((range) => new Cidr(range).contains(ip));

/** `ip('10.0.0.1')`, `cidr('10.0.0.0/8')` and what one can ask of them. */
export function registerIpLibrary(environment: Environment): void {
  environment
    .registerType('net.IP', { ctor: Ip, fields: {} })
    .registerType('net.CIDR', { ctor: Cidr, fields: {} })
    .registerFunction('ip(string): net.IP', (text: string) => new Ip(text))
    .registerFunction('isIP(string): bool', (text: string) => parses(() => new Ip(text)))
    .registerFunction('string(net.IP): string', ({ text }: Ip) => text)
    .registerFunction('net.IP.family(): int', ({ family }: Ip) => BigInt(family))
    .registerFunction('net.IP.isUnspecified(): bool', inRange('0.0.0.0/32', '::/128'))
    .registerFunction('net.IP.isLoopback(): bool', inRange('127.0.0.0/8', '::1/128'))
    .registerFunction('net.IP.isLinkLocalUnicast(): bool', inRange('169.254.0.0/16', 'fe80::/10'))
    .registerFunction('net.IP.isLinkLocalMulticast(): bool', inRange('224.0.0.0/24', 'ff02::/16'))
    .registerFunction(
      'net.IP.isGlobalUnicast(): bool',
      (ip: Ip) =>
        !inRange(
          '0.0.0.0/32',
          '::/128',
          '127.0.0.0/8',
          '::1/128',
          '224.0.0.0/4',
          'ff00::/8',
          '169.254.0.0/16',
          'fe80::/10',
          '255.255.255.255/32',
        )(ip),
    )
    .registerFunction('cidr(string): net.CIDR', (text: string) => new Cidr(text))
    .registerFunction('isCIDR(string): bool', (text: string) => parses(() => new Cidr(text)))
    .registerFunction('string(net.CIDR): string', ({ ip, prefixLength }: Cidr) => `${ip.text}/${prefixLength}`)
    .registerFunction('net.CIDR.containsIP(net.IP): bool', (cidr: Cidr, ip: Ip) => cidr.contains(ip))
    .registerFunction('net.CIDR.containsIP(string): bool', (cidr: Cidr, ip: string) => cidr.contains(new Ip(ip)))
    .registerFunction('net.CIDR.containsCIDR(net.CIDR): bool', containsCidr)
    .registerFunction('net.CIDR.containsCIDR(string): bool', (cidr: Cidr, other: string) => containsCidr(cidr, new Cidr(other)))
    .registerFunction('net.CIDR.ip(): net.IP', ({ ip }: Cidr) => ip)
    .registerFunction('net.CIDR.prefixLength(): int', ({ prefixLength }: Cidr) => BigInt(prefixLength));
}

const containsCidr = (outer: Cidr, inner: Cidr): boolean => outer.prefixLength <= inner.prefixLength && outer.contains(inner.ip);
