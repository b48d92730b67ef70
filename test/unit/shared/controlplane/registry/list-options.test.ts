import { describe, expect, test } from 'vitest';
import { StatusError } from '../../../../../shared/controlplane/apimachinery/status-error.ts';
import { readListOptions } from '../../../../../shared/controlplane/registry/list-options.ts';
import { Query } from '../../../../../shared/controlplane/request/request.ts';
import type { ResourceDefinition } from '../../../../../shared/controlplane/resources/strategy.ts';
import { anObject, aServedResource } from '../a-served-resource.ts';

const read = (query: string, watch = false, parts: Partial<ResourceDefinition> = {}) =>
  readListOptions(aServedResource(parts), new Query(query), watch);
const refusal = (...asked: Parameters<typeof read>): string => {
  try {
    read(...asked);
  } catch (error) {
    if (error instanceof StatusError) return `${error.code} ${error.message}`;
    throw error;
  }
  return 'accepted';
};

describe('the options of a list', () => {
  test('ask by default for everything', () => {
    expect(read('')).toMatchObject({
      limit: 0,
      continueToken: '',
      resourceVersion: '',
      resourceVersionMatch: '',
      sendInitialEvents: undefined,
      allowWatchBookmarks: false,
      timeoutSeconds: undefined,
      selector: { matchesEverything: true, name: '' },
    });
  });
  test('are read, and a limit below 0 is none', () => {
    expect(read('limit=5&continue=t&timeoutSeconds=9')).toMatchObject({ limit: 5, continueToken: 't', timeoutSeconds: 9 });
    expect(read('limit=-5').limit).toBe(0);
    expect(refusal('limit=five')).toBe('400 strconv.ParseInt: parsing "five": invalid syntax');
  });
  test.each<[string, string[]]>([
    ['resourceVersionMatch=Exact', ['resourceVersionMatch is forbidden unless resourceVersion is provided']],
    ['resourceVersionMatch=Exact&resourceVersion=5&continue=t', ['resourceVersionMatch is forbidden when continue is provided']],
    ['resourceVersionMatch=Exact&resourceVersion=0', ['resourceVersionMatch "exact" is forbidden for resourceVersion "0"']],
    ['resourceVersionMatch=Near&resourceVersion=5', ['Unsupported value: "Near": supported values: "Exact", "NotOlderThan", ""']],
    ['sendInitialEvents=true', ['sendInitialEvents is forbidden for list']],
  ])('%s are refused', (query, why) => {
    for (const sentence of why) expect(refusal(query)).toContain(sentence);
    expect(refusal(query)).toMatch(/^422 ListOptions\.meta\.k8s\.io "" is invalid: /);
  });
  test('of a version are accepted', () => {
    expect(read('resourceVersion=5&resourceVersionMatch=Exact')).toMatchObject({ resourceVersion: '5', resourceVersionMatch: 'Exact' });
  });
});

describe('the options of a watch', () => {
  test.each(['', 'resourceVersion=0'])('from nowhere (%j) ask for what there is first', (query) => {
    expect(read(query, true)).toMatchObject({ sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' });
  });
  test('from a version ask for what comes', () => {
    expect(read('resourceVersion=5&allowWatchBookmarks=true', true)).toMatchObject({
      sendInitialEvents: undefined,
      resourceVersionMatch: '',
      allowWatchBookmarks: true,
    });
  });
  test.each<[string, string]>([
    ['sendInitialEvents=true', 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'],
    [
      'resourceVersionMatch=NotOlderThan&resourceVersion=5',
      'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
    ],
    ['sendInitialEvents=true&resourceVersionMatch=Exact', 'Unsupported value: "Exact": supported values: "NotOlderThan"'],
    ['sendInitialEvents=true&resourceVersionMatch=NotOlderThan&continue=t', 'resourceVersionMatch is forbidden when continue is provided'],
  ])('%s are refused', (query, why) => {
    expect(refusal(query, true)).toContain(why);
  });
});

describe('a selector', () => {
  const matches = (query: string, parts: Partial<ResourceDefinition> = {}) => {
    const { selector } = read(query, false, parts);
    return ['a', 'b'].filter((name) =>
      selector.matches(anObject(name, { spec: { nodeName: `node-${name}` } }, { labels: { name, both: 'x' } })),
    );
  };
  const onNodes: Partial<ResourceDefinition> = {
    strategy: { selectableFields: (object) => ({ 'spec.nodeName': (object['spec'] as { nodeName?: string }).nodeName ?? '' }) },
  };

  test('matches by labels, by fields and by both', () => {
    expect(matches('labelSelector=name%3Da')).toEqual(['a']);
    expect(matches('fieldSelector=metadata.name!%3Da')).toEqual(['b']);
    expect(matches('fieldSelector=metadata.namespace%3Dns')).toEqual(['a', 'b']);
    expect(matches('fieldSelector=spec.nodeName%3Dnode-b&labelSelector=both', onNodes)).toEqual(['b']);
    expect(matches('')).toEqual(['a', 'b']);
  });
  test('knows the only name that can match', () => {
    expect(read('fieldSelector=metadata.name%3Da').selector).toMatchObject({ name: 'a', matchesEverything: false });
    expect(read('fieldSelector=metadata.name!%3Da').selector.name).toBe('');
  });
  test.each<[string, Partial<ResourceDefinition>, string]>([
    ['fieldSelector=spec.x%3D1', {}, '400 "spec.x" is not a known field selector: only "metadata.name", "metadata.namespace"'],
    ['fieldSelector=constructor%3D1', onNodes, '400 field label not supported: constructor'],
    ['fieldSelector=metadata.namespace%3Dx', { ...onNodes, namespaced: false }, '400 field label not supported: metadata.namespace'],
    ['fieldSelector=a%3D1', { strategy: { unsupportedField: (field) => `no ${field} here` } }, '400 no a here'],
  ])('%s is refused: it asks for a field that nobody can select by', (query, parts, why) => {
    expect(refusal(query, false, parts)).toBe(why);
  });
  test('that cannot be read is refused', () => {
    expect(refusal('labelSelector=a%3Db%3Dc')).toMatch(/^400 /);
    expect(refusal('fieldSelector=nonsense')).toMatch(/^400 /);
  });
});
