import { BlockList, isIP, isIPv4 } from 'node:net';
import type { Environment } from '@marcbachmann/cel-js';
import type { Sized } from './call-cost.ts';

class Ip implements Sized {
  readonly text: string;
  constructor(text: string) {
    // Zones and IPv4-mapped addresses are refused, as by Kubernetes.
    const quoted = JSON.stringify(text);
    if (text.includes('%') && isIP(text) !== 0) throw new Error(`IP address ${quoted} with zone value is not allowed`);
    if (/^::ffff:\d+\./i.test(text) && isIP(text) !== 0) throw new Error(`IPv4-mapped IPv6 address ${quoted} is not allowed`);
    if (isIP(text) === 0)
      throw new Error(`IP Address ${quoted} parse error during conversion from string: ParseAddr(${quoted}): ${whyNoIp(text)}`);
    this.text = isIPv4(text) ? text : canonicalIpv6(text);
  }
  get family(): 4 | 6 {
    return isIPv4(this.text) ? 4 : 6;
  }
  get costSize(): number {
    return this.family === 4 ? 4 : 16;
  }
}

/** Go's reasons, where they are told apart here. */
function whyNoIp(text: string): string {
  if (!/[.:]/.test(text)) return 'unable to parse IP';
  if (/^[\d.]+$/.test(text) && text.split('.').some((byte) => /^0\d/.test(byte))) return 'IPv4 field has octet with leading zero';
  if (/^[\d.]+$/.test(text) && text.split('.').some((byte) => Number(byte) > 255)) return 'IPv4 field has value >255';
  return /^[\d.]+$/.test(text) ? 'IPv4 address too short' : 'unexpected character';
}

const PARSE_ERROR = 'network address parse error during conversion from string: ';

/** What Go's netip.ParsePrefix says of a text that is no prefix. */
function prefixProblem(text: string): string {
  const slash = text.lastIndexOf('/');
  if (slash < 0) return "no '/'";
  const [address, bits] = [text.slice(0, slash), text.slice(slash + 1)];
  if (address.includes('%')) return 'IPv6 zones cannot be present in a prefix';
  if (isIP(address) === 0) return `ParseAddr(${JSON.stringify(address)}): ${whyNoIp(address)}`;
  return /^(?:\d|[1-9]\d+)$/.test(bits) ? 'prefix length out of range' : `bad bits after slash: ${JSON.stringify(bits)}`;
}

class Cidr implements Sized {
  readonly ip: Ip;
  readonly prefixLength: number;
  constructor(text: string) {
    const match = /^(.+)\/(\d|[1-9]\d{1,2})$/.exec(text);
    const bits = Number(match?.[2]);
    if (match?.[1] === undefined || isIP(match[1]) === 0 || match[1].includes('%') || bits > (isIPv4(match[1]) ? 32 : 128)) {
      throw new Error(`${PARSE_ERROR}${PARSE_ERROR}netip.ParsePrefix(${JSON.stringify(text)}): ${prefixProblem(text)}`);
    }
    this.ip = new Ip(match[1]);
    this.prefixLength = bits;
  }
  masked(): Cidr {
    const { family, text } = this.ip;
    const width = family === 4 ? 32 : 128;
    const bits = (addressBits(text, family) >> BigInt(width - this.prefixLength)) << BigInt(width - this.prefixLength);
    return new Cidr(`${addressText(bits, family)}/${this.prefixLength}`);
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

/** A text that is no address is of no type that there is a function for. */
function containsText(cidr: Cidr, text: string): boolean {
  if (isIP(text) === 0) throw new Error('no such overload');
  return cidr.contains(new Ip(text));
}

const canonicalIpv6 = (text: string): string => new URL(`http://[${text}]`).hostname.slice(1, -1);
function addressBits(text: string, family: 4 | 6): bigint {
  if (family === 4) return text.split('.').reduce((bits, byte) => (bits << 8n) | BigInt(byte), 0n);
  const [head = '', tail] = text.split('::');
  const groups = (part: string): string[] => (part === '' ? [] : part.split(':'));
  const missing = tail === undefined ? 0 : 8 - groups(head).length - groups(tail).length;
  const all = [...groups(head), ...Array.from({ length: missing }, () => '0'), ...groups(tail ?? '')];
  return all.reduce((bits, group) => (bits << 16n) | BigInt(`0x${group}`), 0n);
}

function addressText(bits: bigint, family: 4 | 6): string {
  const [count, width, base, separator] = family === 4 ? ([4, 8n, 10, '.'] as const) : ([8, 16n, 16, ':'] as const);
  const parts = Array.from({ length: count }, (_, i) => (bits >> (BigInt(count - 1 - i) * width)) & ((1n << width) - 1n));
  return parts.map((part) => part.toString(base)).join(separator);
}

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

/** The `ip` of `ip.isCanonical(text)`: CEL namespaces are receivers here. */
class Ips {}

/** `ip('10.0.0.1')`, `cidr('10.0.0.0/8')` and what one can ask of them. */
export function registerIpLibrary(environment: Environment): void {
  environment
    .registerType('net.IP', { ctor: Ip, fields: {} })
    .registerType('net.CIDR', { ctor: Cidr, fields: {} })
    .registerOperator('net.IP == net.IP', (a: Ip, b: Ip) => a.text === b.text)
    .registerOperator('net.CIDR == net.CIDR', (a: Cidr, b: Cidr) => a.ip.text === b.ip.text && a.prefixLength === b.prefixLength)
    .registerFunction('ip(string): net.IP', (text: string) => new Ip(text))
    .registerType('kubernetes.Ips', { ctor: Ips, fields: {} })
    .registerConstant('ip', 'kubernetes.Ips', new Ips())
    .registerFunction('kubernetes.Ips.isCanonical(string): bool', (_: Ips, text: string) => new Ip(text).text === text)
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
    .registerFunction('net.CIDR.containsIP(string): bool', containsText)
    .registerFunction('net.CIDR.containsCIDR(net.CIDR): bool', containsCidr)
    .registerFunction('net.CIDR.containsCIDR(string): bool', (cidr: Cidr, other: string) => containsCidr(cidr, new Cidr(other)))
    .registerFunction('net.CIDR.ip(): net.IP', ({ ip }: Cidr) => ip)
    .registerFunction('net.CIDR.masked(): net.CIDR', (cidr: Cidr) => cidr.masked())
    .registerFunction('net.CIDR.prefixLength(): int', ({ prefixLength }: Cidr) => BigInt(prefixLength));
}

const containsCidr = (outer: Cidr, inner: Cidr): boolean => outer.prefixLength <= inner.prefixLength && outer.contains(inner.ip);
