import { neverConnected } from '../../../shared/kube/connection-failure.ts';

/** Another manager may hold the Lease by now. */
export class LeaseNotHeld extends Error {
  override readonly name = 'LeaseNotHeld';

  constructor() {
    super('the manager’s Lease there was not renewed in time, and nothing is written without it');
  }
}

/** Nothing was sent: whatever was to be written has not happened. */
export const neverSent = (error: unknown): boolean => error instanceof LeaseNotHeld || neverConnected(error);
