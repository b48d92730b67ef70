/** The header that a page of another site cannot send without asking first, which is answered by nobody. */
export const ACTION_HEADER = 'x-switchyard-dashboard';

/** Why a request is not taken for one of our page; undefined: it is. `header` gives headers by their names in small letters. */
export function foreignRequest(header: (name: string) => string | undefined): string | undefined {
  if (header(ACTION_HEADER) !== '1') return `the header ${ACTION_HEADER}: 1 is missing`;
  const site = header('sec-fetch-site');
  // Browsers say it, and no page can.
  if (site !== undefined) return site === 'same-origin' ? undefined : 'another site asks';
  const origin = header('origin');
  if (origin === undefined) return undefined;
  return URL.canParse(origin) && new URL(origin).host === header('host') ? undefined : 'another site asks';
}
