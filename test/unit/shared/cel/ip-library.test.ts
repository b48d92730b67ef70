import { describe, expect, test } from 'vitest';
import { evaluate } from './evaluate.ts';

describe('addresses', () => {
  test.each([
    ["string(ip('2001:DB8::0:1'))", '2001:db8::1'],
    ["ip('10.0.0.1').family()", 4n],
    ["ip('::1').family()", 6n],
    ["isIP('10.0.0.256')", false],
    ["isIP('::ffff:10.0.0.1')", false],
    ["isIP('fe80::1%eth0')", false],
    ["ip('127.3.4.5').isLoopback()", true],
    ["ip('0.0.0.0').isUnspecified()", true],
    ["ip('169.254.1.1').isLinkLocalUnicast()", true],
    ["ip('ff02::1').isLinkLocalMulticast()", true],
    ["ip('8.8.8.8').isGlobalUnicast()", true],
    ["ip('255.255.255.255').isGlobalUnicast()", false],
  ])('%s is %s', (expression, value) => {
    expect(evaluate(expression)).toEqual(value);
  });

  test('a text that is no address is an error that names it', () => {
    expect(evaluate("ip('nowhere').family() == 4")).toBe(
      'error: IP Address "nowhere" parse error during conversion from string: ParseAddr("nowhere"): unable to parse IP',
    );
  });
});

describe('networks', () => {
  test.each([
    ["cidr('10.0.0.0/8').containsIP('10.255.0.1')", true],
    ["cidr('10.0.0.0/8').containsIP(ip('11.0.0.1'))", false],
    ["cidr('10.0.0.0/8').containsIP('::1')", false],
    ["cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16')", true],
    ["cidr('10.1.0.0/16').containsCIDR('10.0.0.0/8')", false],
    ["cidr('10.1.2.0/24').prefixLength()", 24n],
    ["string(cidr('10.1.2.0/24').ip())", '10.1.2.0'],
    ["string(cidr('10.1.2.0/24'))", '10.1.2.0/24'],
    ["isCIDR('10.0.0.0/33')", false],
    ["isCIDR('::/129')", false],
    ["isCIDR('10.0.0.0')", false],
  ])('%s is %s', (expression, value) => {
    expect(evaluate(expression)).toEqual(value);
  });
});
