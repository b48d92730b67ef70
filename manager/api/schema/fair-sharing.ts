import { Type, type Static } from 'typebox';
import { Quantity, withRules } from '../schema-parts.ts';

/** `fairSharing` of a ClusterQueue, Cohort or LocalQueue. */
export const FairSharing = (description: string) =>
  Type.Object(
    { weight: Type.Optional(Type.Unsafe<string | number>({ ...Quantity(WEIGHT), default: 1 })) },
    { description, ...withRules(NOT_NEGATIVE, NOT_TOO_SMALL) },
  );
export type FairSharing = Static<ReturnType<typeof FairSharing>>;

/** `status.fairSharing` of a ClusterQueue or Cohort. */
export const FairSharingStatus = Type.Object(
  {
    weightedShare: Type.Integer({
      minimum: 0,
      format: 'int64',
      description:
        'What is borrowed of the most borrowed resource, in thousandths of what the cohort could lend, divided by the weight and rounded up. With weight 0, a borrower has 9223372036854775000.',
    }),
  },
  { description: 'Its share of what the cohort lends; absent without --fair-sharing.' },
);

const WEIGHT = 'How much more than others it may use before it counts as much: 2 is twice as much as 1. With 0 it comes after all others.';

const NOT_NEGATIVE = {
  rule: "!has(self.weight) || (type(self.weight) == int ? self.weight >= 0 : !self.weight.startsWith('-'))",
  message: 'weight must not be negative; write 0 for whoever comes last, or more',
};
/** Kueue's bound: a smaller weight would be 0 after rounding. */
const NOT_TOO_SMALL = {
  rule: "!has(self.weight) || type(self.weight) == int || quantity(self.weight).compareTo(quantity('0')) == 0 || quantity(self.weight).compareTo(quantity('1n')) > 0",
  message: 'weight must be 0, or more than 1n (a billionth)',
};
