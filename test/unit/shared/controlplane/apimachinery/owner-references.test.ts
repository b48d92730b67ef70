import { describe, expect, test } from 'vitest';
import type { AnyMeta } from '../../../../../shared/controlplane/apimachinery/object.ts';
import { dropDuplicateOwners } from '../../../../../shared/controlplane/apimachinery/owner-references.ts';

type Owner = NonNullable<AnyMeta['ownerReferences']>[number];
const owner = (uid: string, parts: Partial<Owner> = {}): Owner => ({ apiVersion: 'v1', kind: 'Pod', name: 'p', uid, ...parts });
const dropped = (...ownerReferences: Owner[]) => {
  const metadata: AnyMeta = { name: 'x', uid: 'u', resourceVersion: '1', creationTimestamp: '', ownerReferences };
  const warning = dropDuplicateOwners(metadata, false);
  return { warning, uids: metadata.ownerReferences?.map(({ uid }) => uid) };
};

describe('owners that stand there twice', () => {
  test('are taken out, the first of them stays, and the warning names their UIDs', () => {
    const { warning, uids } = dropped(owner('a'), owner('b'), owner('a'), owner('b'), owner('a'));
    expect(uids).toEqual(['a', 'b']);
    expect(warning).toMatch(/^\.metadata\.ownerReferences contains duplicate entries; .*duplicate UID\(s\) observed: a, b, a$/);
  });

  test('are the same in every field, whatever the order of the fields', () => {
    expect(dropped(owner('a'), { uid: 'a', name: 'p', kind: 'Pod', apiVersion: 'v1' }).uids).toEqual(['a']);
    expect(dropped(owner('a'), owner('a', { controller: true }), owner('a', { name: 'q' }))).toEqual({
      warning: '',
      uids: ['a', 'a', 'a'],
    });
  });

  test('are not looked for where there are none or one', () => {
    expect(dropped()).toEqual({ warning: '', uids: [] });
    expect(dropped(owner('a'))).toEqual({ warning: '', uids: ['a'] });
    expect(dropDuplicateOwners({ name: 'x', uid: 'u', resourceVersion: '1', creationTimestamp: '' }, false)).toBe('');
  });

  test('that a webhook brought are not laid to the one who asks', () => {
    const metadata = { name: 'x', uid: 'u', resourceVersion: '1', creationTimestamp: '', ownerReferences: [owner('a'), owner('a')] };
    expect(dropDuplicateOwners(metadata, true)).toContain('contains duplicate entries after mutating admission happens;');
  });
});
