import { describe, expect, test } from 'vitest';
import { createAddressRanges, isAddressRange } from '../../../../shared/kube/address-ranges.ts';

describe('a range of addresses', () => {
  test.each(['10.0.0.0/8', '0.0.0.0/0', '192.0.2.1/32', '::/0', 'fe80::/10', '::1/128'])('may be %s', (text) => {
    expect(isAddressRange(text)).toBe(true);
  });
  test.each([
    '',
    '10.0.0.0',
    '10.0.0.0/33',
    '::/129',
    '10.0.0/8',
    'host/8',
    '10.0.0.0/8/8',
    '10.0.0.0/-1',
    '10.0.0.0/ 8',
    'fe80::%eth0/10',
    '10.0.0.0/',
  ])('may not be %j', (text) => {
    expect(isAddressRange(text)).toBe(false);
    expect(() => createAddressRanges([text])).toThrow(`${JSON.stringify(text)} is no range of addresses; write one such as 169.254.0.0/16`);
  });
});

describe('an address', () => {
  const ranges = createAddressRanges(['169.254.0.0/16', '127.0.0.0/8', '::1/128', 'fe80::/10']);
  test.each<[string, string | undefined]>([
    ['169.254.169.254', '169.254.0.0/16'],
    ['169.255.0.0', undefined],
    ['127.8.8.8', '127.0.0.0/8'],
    ['::1', '::1/128'],
    ['[::1]', '::1/128'],
    ['fe80::1%eth0', 'fe80::/10'],
    ['2001:db8::1', undefined],
    ['host', undefined],
    ['', undefined],
  ])('%j is in %j', (address, range) => {
    expect(ranges.rangeOf(address)).toBe(range);
  });
  test.each([
    ['::ffff:169.254.169.254', '169.254.0.0/16'],
    ['::ffff:a9fe:a9fe', '169.254.0.0/16'],
    ['0:0:0:0:0:ffff:7f00:1', '127.0.0.0/8'],
    ['::FFFF:127.0.0.1', '127.0.0.0/8'],
  ])('of IPv4 in the notation of IPv6, %s, is the one of IPv4', (address, range) => {
    expect(ranges.rangeOf(address)).toBe(range);
  });
  test.each([
    ['0.0.0.0', '127.0.0.0/8'],
    ['::ffff:0.0.0.0', '127.0.0.0/8'],
    ['::', '::1/128'],
    ['0:0:0:0:0:0:0:0', '::1/128'],
  ])('that is none, %s, reaches this machine', (address, range) => {
    expect(ranges.rangeOf(address)).toBe(range);
  });
  test('is in the first range that has it, and in none of no ranges', () => {
    expect(createAddressRanges(['10.0.0.0/8', '10.1.0.0/16']).rangeOf('10.1.2.3')).toBe('10.0.0.0/8');
    expect(createAddressRanges([]).rangeOf('10.1.2.3')).toBeUndefined();
  });
});
