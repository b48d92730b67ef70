/** Where in the page somebody is: what stands behind the # of its address, so that it can be sent to somebody else. */
export type Place =
  /** `at`: as it was at that moment, in epoch milliseconds. */
  | { readonly page: 'yard'; readonly hours?: number; readonly at?: number }
  | { readonly page: 'jobs'; readonly query: Query }
  | { readonly page: 'job'; readonly namespace: string; readonly name: string; readonly tab: string }
  /** `cohort`: those of it alone. */
  | { readonly page: 'queues'; readonly cohort?: string }
  | { readonly page: 'queue'; readonly name: string }
  | { readonly page: 'clusters' }
  | { readonly page: 'cluster'; readonly name: string }
  | { readonly page: 'submissions' }
  | { readonly page: 'usage'; readonly by: string; readonly days: number }
  | { readonly page: 'lost'; readonly path: string };

/** Which Jobs are looked for, and how they are shown. */
export type Query = Readonly<Record<string, string>>;
/** Puts other parts of a query into the address. */
export type Change = (next: Readonly<Record<string, string | undefined>>) => void;

export function parsePlace(hash: string): Place {
  const [path = '', search = ''] = hash.replace(/^#/, '').split('?', 2);
  const parts = path.split('/').flatMap((part) => (part === '' ? [] : [decoded(part)]));
  const query = Object.fromEntries([...new URLSearchParams(search)].filter(([, value]) => value !== ''));
  const [page = 'yard', first, second, third] = parts;
  switch (page) {
    case 'yard':
      return { page, ...number(query, 'hours'), ...number(query, 'at') };
    case 'submissions':
      return { page };
    case 'usage':
      return { page, by: query['by'] ?? 'namespace', days: Number(query['days'] ?? DAYS_SHOWN) };
    case 'jobs':
      return first === undefined
        ? { page, query }
        : second === undefined
          ? lost(path)
          : { page: 'job', namespace: first, name: third === undefined ? second : `${second}/${third}`, tab: query['tab'] ?? '' };
    case 'queues':
      return first === undefined
        ? { page, ...(query['cohort'] !== undefined && { cohort: query['cohort'] }) }
        : { page: 'queue', name: first };
    case 'clusters':
      return first === undefined ? { page } : { page: 'cluster', name: first };
    default:
      return lost(path);
  }
}

/** Whatever is no number is left out. */
const number = <Name extends string>(query: Readonly<Record<string, string>>, name: Name): Partial<Record<Name, number>> => {
  const text = query[name] ?? '';
  return /^\d{1,15}$/.test(text) ? ({ [name]: Number(text) } as Partial<Record<Name, number>>) : {};
};

/** The yard with so many hours of its time line, now or at a moment. */
export function overviewAt(hours: number, atMs?: number): string {
  const query = [...(hours === HOURS_SHOWN ? [] : [`hours=${hours}`]), ...(atMs === undefined ? [] : [`at=${atMs}`])].join('&');
  return query === '' ? '#/yard' : `#/yard?${query}`;
}
/** Of the time line, where nobody says otherwise. */
export const HOURS_SHOWN = 1;

/** Of usage, where nobody says otherwise. */
export const DAYS_SHOWN = 30;

const lost = (path: string): Place => ({ page: 'lost', path });

/** A text that cannot be decoded is taken as it is. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part; // a lone % is as good as any other letter
  }
}

export const jobsAt = (query: Readonly<Record<string, string | undefined>>): string => {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined && value !== '') search.set(name, value);
  return search.size === 0 ? '#/jobs' : `#/jobs?${search.toString()}`;
};
export const jobAt = (key: string, tab?: string): string =>
  `#/jobs/${key.split('/').map(encodeURIComponent).join('/')}${tab === undefined ? '' : `?tab=${tab}`}`;
/** How Jobs are grouped: as the query says, or those that all wait by what they wait for. `none`: not at all. */
export function groupIn({ group, cause, state = '' }: Query): string {
  if (group !== undefined) return group === 'none' ? '' : group;
  return cause === undefined && state !== '' && state.split(',').every((each) => each === 'Waiting' || each === 'NeverFits') ? 'cause' : '';
}
export const usageAt = (by: string, days: number): string => `#/usage?by=${by}&days=${days}`;
export const cohortAt = (name: string): string => `#/queues?cohort=${encodeURIComponent(name)}`;
export const queueAt = (name: string): string => `#/queues/${encodeURIComponent(name)}`;
export const clusterAt = (name: string): string => `#/clusters/${encodeURIComponent(name)}`;

/** The token that a link of the quick start brings, and the address without it. */
export function takeToken(hash: string): { readonly token: string | undefined; readonly rest: string } {
  const [, token] = /[#&?]token=([A-Za-z0-9._~+/=-]+)/.exec(hash) ?? [];
  return { token, rest: token === undefined ? hash : hash.replace(/[#&?]token=[A-Za-z0-9._~+/=-]+/, '') };
}
