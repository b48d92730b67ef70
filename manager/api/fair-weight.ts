import { parseQuantity } from '../../shared/kube/quantity.ts';
import type { FairSharing } from './schema/fair-sharing.ts';

/** The weight as a number; 1 where it is absent. Throws QuantityError when it is malformed. */
export const weightOf = (fairSharing: FairSharing | undefined): number =>
  fairSharing?.weight === undefined ? 1 : Number(parseQuantity(fairSharing.weight).nanos) / NANOS_PER_UNIT;

const NANOS_PER_UNIT = 1e9;
