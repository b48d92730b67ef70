import { neverConnected } from '../../../shared/kube/connection-failure.ts';

/** The Lease has expired, and another manager may hold it. */
export class LeaseNotHeld extends Error {
  override readonly name = 'LeaseNotHeld';

  constructor() {
    super('the manager’s Lease there was not renewed in time, and nothing is written without it');
  }
}

/** The write was never sent, so it was not carried out. */
export const neverSent = (error: unknown): boolean => error instanceof LeaseNotHeld || neverConnected(error);
