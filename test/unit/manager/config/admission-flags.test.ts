import { expect, test } from 'vitest';
import { ADMISSION_FLAGS, admissionFlagsOf } from '../../../../manager/config/admission-flags.ts';

const flags = {
  'fair-sharing': false,
  'default-placement': ADMISSION_FLAGS['default-placement'].parse('MostRoom'),
  'fair-sharing-preemption-strategies': ADMISSION_FLAGS['fair-sharing-preemption-strategies'].parse('LessThanInitialShare'),
  'admission-fair-sharing-half-life': undefined,
  'admission-fair-sharing-sampling-interval': 300_000,
  'admission-fair-sharing-resource-weights': new Map<string, number>(),
};

test('without the flags that ask for it nothing is shared fairly, whatever the others say', () => {
  expect(admissionFlagsOf(flags)).toEqual({ fairSharing: undefined, admissionFairSharing: undefined, defaultPlacement: 'MostRoom' });
});

test('with them it is as the others say', () => {
  const resourceWeights = ADMISSION_FLAGS['admission-fair-sharing-resource-weights'].parse('cpu=1, memory=1e-10');
  const halfLife = ADMISSION_FLAGS['admission-fair-sharing-half-life'].parse('1h');
  expect(
    admissionFlagsOf({
      ...flags,
      'fair-sharing': true,
      'admission-fair-sharing-half-life': halfLife,
      'admission-fair-sharing-resource-weights': resourceWeights,
    }),
  ).toEqual({
    defaultPlacement: 'MostRoom',
    fairSharing: { preemptionStrategies: ['LessThanInitialShare'] },
    admissionFairSharing: {
      halfLifeMs: 3_600_000,
      samplingIntervalMs: 300_000,
      resourceWeights: new Map([
        ['cpu', 1],
        ['memory', 1e-10],
      ]),
    },
  });
});

test.each([
  ['fair-sharing-preemption-strategies', 'LessThanInitialShare,LessThanOrEqualToFinalShare'],
  ['admission-fair-sharing-half-life', '0s'],
  ['admission-fair-sharing-sampling-interval', '10ms'],
  ['admission-fair-sharing-resource-weights', 'cpu=-1'],
] as const)('--%s does not take %s', (name, given) => {
  expect(() => ADMISSION_FLAGS[name].parse(given)).toThrow(given);
});
