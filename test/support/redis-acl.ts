/** The users of docs/redis-acl.md, as they stand there, and what is in a Redis beside what one of them may write. */
import { readFileSync } from 'node:fs';
import type { Redis } from 'ioredis';

type User = { readonly username: string; readonly password: string };

/** An ACL file, with a user more that may do everything: the test's own. */
export const aclFile = (): string =>
  readFileSync('docs/redis-acl.md', 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('user '))
    .concat('user test on >test ~* &* +@all', '')
    .join('\n');
export const testUser = (): User => ({ username: 'test', password: 'test' });

export const managerUser = (): User => ({ username: 'switchyard-manager', password: 'CHANGE-ME-manager' });
/** `team` or `other`. */
export const tenantUser = (tenant: string): User => ({ username: `tenant-${tenant}`, password: `CHANGE-ME-${tenant}` });

/**
 * Every key that the tenant with this prefix may not write, with its content. What the manager notes of the tenant itself is left out:
 * those keys tell of the tenant's own submissions.
 */
export async function keysOutside(
  observer: Redis,
  prefix: string,
  ownMarks = 'switchyard:{uid-of-team}:',
): Promise<Readonly<Record<string, string>>> {
  const keys = (await observer.call('KEYS', '*')) as readonly string[];
  const outside = keys.filter((key) => !key.startsWith(`${prefix}:`) && !key.startsWith(ownMarks) && key !== 'switchyard:probe').toSorted();
  const dumps = await Promise.all(outside.map((key) => observer.dumpBuffer(key)));
  return Object.fromEntries(outside.map((key, index) => [key, dumps[index]?.toString('base64') ?? '']));
}
