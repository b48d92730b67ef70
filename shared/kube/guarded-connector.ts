import { lookup as systemLookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { buildConnector } from 'undici';
import type { AddressRanges } from './address-ranges.ts';

/** A connection was not made, because of the address that it would have gone to. */
export class AddressDeniedError extends Error {
  override readonly name = 'AddressDeniedError';
}

/**
 * Dials as undici does, but nothing in the ranges. A name is judged by the addresses that this very connection is made to, so that it
 * cannot resolve to one thing when it is judged and to another when it is dialled. One denied address among several denies the name.
 */
export function guardedConnector(
  options: buildConnector.BuildOptions,
  denied: AddressRanges,
  lookup: LookupFunction = systemLookup,
): buildConnector.connector {
  const guardedLookup: LookupFunction = (hostname, lookupOptions, callback) =>
    lookup(hostname, lookupOptions, (error, found, family) => {
      const addresses = typeof found === 'string' ? [found] : (found ?? []).map(({ address }) => address);
      const range = error === null ? firstRange(addresses, denied) : undefined;
      callback(range === undefined ? error : denial(range), found, family);
    });
  // The lookup goes to the socket with all other options, which is more than the type says.
  const withLookup: buildConnector.BuildOptions & { readonly lookup: LookupFunction } = { ...options, lookup: guardedLookup };
  const dial = buildConnector(withLookup);
  return (target, callback) => {
    // No name is looked up for an address.
    const range = denied.rangeOf(target.hostname);
    if (range === undefined) dial(target, callback);
    else queueMicrotask(() => callback(denial(range), null));
  };
}

const firstRange = (addresses: readonly string[], denied: AddressRanges): string | undefined =>
  addresses.map((address) => denied.rangeOf(address)).find((range) => range !== undefined);

const denial = (range: string): AddressDeniedError =>
  new AddressDeniedError(`the address of its server is in ${range}, which is denied; give another server, or permit that range`);
