/** A header that a page of another site cannot send without a preflight request, which is never granted. */
export const ACTION_HEADER = 'x-switchyard-dashboard';

/** Why a request does not come from the dashboard's own page; undefined: it does. `header` takes names in lower case. */
export function foreignRequest(header: (name: string) => string | undefined): string | undefined {
  if (header(ACTION_HEADER) !== '1') return `the header ${ACTION_HEADER}: 1 is missing`;
  const site = header('sec-fetch-site');
  // Browsers set this header, and pages cannot.
  if (site !== undefined) return site === 'same-origin' ? undefined : 'another site asks';
  const origin = header('origin');
  if (origin === undefined) return undefined;
  return URL.canParse(origin) && new URL(origin).host === header('host') ? undefined : 'another site asks';
}
