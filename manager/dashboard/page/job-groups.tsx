import type { JobPage } from '../views.ts';
import { Bar } from './parts.tsx';
import { groupIn, jobsAt, type Change, type Query } from './place.ts';

const GROUPS = {
  none: 'no groups',
  cause: 'what it waits for',
  state: 'state',
  queue: 'queue',
  clusterQueue: 'cluster queue',
  cluster: 'cluster',
  namespace: 'namespace',
  kind: 'kind',
  user: 'user',
  reason: 'reason',
  label: 'that label',
};

export function GroupBy({ query, change }: { readonly query: Query; readonly change: Change }) {
  return (
    <label class="group-by">
      <span class="soft">by</span>
      <select value={groupIn(query) || 'none'} aria-label="Group by" onChange={(event) => change({ group: event.currentTarget.value })}>
        {Object.entries(GROUPS).map(([value, label]) => (
          <option key={value} value={value} disabled={value === 'label' && query['label'] === undefined}>
            {label}
          </option>
        ))}
      </select>
    </label>
  );
}

export function Groups({ query, groups, total }: { readonly query: Query; readonly groups: NonNullable<JobPage['groups']>; readonly total: number }) {
  const group = groupIn(query);
  return (
    <ul class="groups" aria-label={`Jobs by ${group}`}>
      {groups.slice(0, 40).map(({ key, count }) => (
        <li key={key}>
          {key === '' ? (
            <span class="none">
              <Group name="none" number={count} share={count / Math.max(1, total)} />
            </span>
          ) : (
            <a href={jobsAt({ ...query, group: undefined, [group]: group === 'label' ? labelled(query, key) : key })}>
              <Group name={key} number={count} share={count / Math.max(1, total)} />
            </a>
          )}
        </li>
      ))}
    </ul>
  );
}

function Group({ name, number, share }: { readonly name: string; readonly number: number; readonly share: number }) {
  return (
    <>
      <b>{number.toLocaleString('en')}</b> <span class="name">{name}</span>
      <Bar share={share} />
    </>
  );
}

/** The label that is asked for, with this value. */
const labelled = (query: Query, value: string): string => `${(query['label'] ?? '').replace(/=.*$/, '')}=${value}`;
