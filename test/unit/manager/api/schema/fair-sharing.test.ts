import { describe, expect, test } from 'vitest';
import { FairSharing } from '../../../../../manager/api/schema/fair-sharing.ts';
import { compileCel, kubernetesEnvironment } from '../../../../../shared/cel/environment.ts';

describe('the rules of weights', () => {
  const rules = (FairSharing('') as unknown as { 'x-kubernetes-validations': readonly { rule: string; message: string }[] })[
    'x-kubernetes-validations'
  ];
  const broken = (self: object): string[] =>
    rules
      .filter(({ rule }) => {
        const { value, error } = compileCel(kubernetesEnvironment.clone().registerVariable('self', 'dyn'), rule).run({ self });
        if (error !== undefined) throw new Error(`${rule}: ${error}`);
        return value !== true;
      })
      .map(({ message }) => message);
  const inCel = (self: Readonly<Record<string, string | number>>): object =>
    Object.fromEntries(Object.entries(self).map(([name, value]) => [name, typeof value === 'number' ? BigInt(value) : value]));
  const TOO_SMALL = 'weight must be 0, or more than 1n (a billionth)';
  const NEGATIVE = 'weight must not be negative; write 0 for whoever comes last, or more';
  // As JSON has them: numbers are integers of CEL there.
  test.each<[Readonly<Record<string, string | number>>, readonly string[]]>([
    [{}, []],
    [{ weight: 3 }, []],
    [{ weight: 0 }, []],
    [{ weight: -1 }, [NEGATIVE]],
    [{ weight: '0' }, []],
    [{ weight: '0.5' }, []],
    [{ weight: '2n' }, []],
    [{ weight: '1n' }, [TOO_SMALL]],
    [{ weight: '-1' }, [NEGATIVE, TOO_SMALL]],
  ])('%j breaks %j', (self, expected) => {
    expect(broken(inCel(self))).toEqual(expected);
  });
});
