import { describe, expect, test } from 'vitest';
import { readDeleteOptions } from '../../../../../shared/controlplane/registry/delete-options.ts';
import { readWriteOptions } from '../../../../../shared/controlplane/registry/request-options.ts';
import { Query } from '../../../../../shared/controlplane/request/request.ts';
import { aControlPlane, CONFIG_MAPS, configMap } from '../a-control-plane.ts';

const deletion = (body: string, query = ''): ReturnType<typeof readDeleteOptions> =>
  readDeleteOptions(body, 'application/json', new Query(query), 'v1');

describe('the options of a deletion', () => {
  test('without a body come from the query, preconditions too', () => {
    expect(deletion('', 'gracePeriodSeconds=5&propagationPolicy=Orphan&uid=u&resourceVersion=7&dryRun=All')).toMatchObject({
      gracePeriodSeconds: 5,
      propagationPolicy: 'Orphan',
      preconditions: { uid: 'u', resourceVersion: '7' },
      dryRun: true,
    });
  });

  test('null is a body that says nothing, and beside a body the query does not count', () => {
    expect(deletion('null', 'gracePeriodSeconds=5')).toMatchObject({ gracePeriodSeconds: undefined, preconditions: {}, dryRun: false });
  });

  test('are refused for each thing that is wrong with them', () => {
    expect(() => deletion('{"orphanDependents":true,"propagationPolicy":"Odd","dryRun":["Some"]}')).toThrow(
      'DeleteOptions.meta.k8s.io "" is invalid: [propagationPolicy: Invalid value: "Odd": orphanDependents and deletionPropagation cannot be both set, ' +
        'propagationPolicy: Unsupported value: "Odd": supported values: "Foreground", "Background", "Orphan", "nil", ' +
        'dryRun: Unsupported value: ["Some"]: supported values: "All"]',
    );
  });

  test('are typed', () => {
    expect(() => deletion('{"gracePeriodSeconds":"5"}')).toThrow(
      'json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of type int64',
    );
    expect(() => deletion('nope')).toThrow(
      "couldn't get version/kind; json parse error: invalid character 'o' in literal null (expecting 'u')",
    );
    expect(() => deletion('{"kind":"Other","apiVersion":"v1"}')).toThrow('no kind "Other" is registered for version "v1"');
  });
});

test('a field manager is printable; what is not is shown with its place in bytes', () => {
  const read = (manager: string): unknown => readWriteOptions(new Query(`fieldManager=${encodeURIComponent(manager)}`), 'CreateOptions');
  expect(read('é ok')).toMatchObject({ fieldManager: 'é ok' });
  expect(() => read('é\u0007b\n')).toThrow(
    String.raw`[fieldManager: Invalid value: "é\u0007b\n": invalid character U+0007 (at position 2), ` +
      String.raw`fieldManager: Invalid value: "é\u0007b\n": invalid character U+000A (at position 4)]`,
  );
});

test.each([
  ['limit=', 'strconv.ParseInt: parsing "": invalid syntax'],
  ['limit=ten', 'strconv.ParseInt: parsing "ten": invalid syntax'],
  ['timeoutSeconds=9223372036854775808', 'strconv.ParseInt: parsing "9223372036854775808": value out of range'],
  // Options come before selectable fields, and those before anything is read.
  [
    'fieldSelector=bogus%3D1&sendInitialEvents=true',
    'ListOptions.meta.k8s.io "" is invalid: sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list',
  ],
  ['fieldSelector=bogus%3D1', '"bogus" is not a known field selector: only "metadata.name", "metadata.namespace"'],
])('a list with %s is refused', async (query, message) => {
  const { call } = await aControlPlane();
  expect((await call('GET', `${CONFIG_MAPS}?${query}`)).body).toMatchObject({ message });
});

test('a watch from nowhere that takes bookmarks is told where the initial events end', async () => {
  const bench = await aControlPlane();
  await bench.call('POST', CONFIG_MAPS, configMap('a'));
  for (const query of ['', '&resourceVersion=0']) {
    const watch = await bench.watch(`${CONFIG_MAPS}?watch=1&allowWatchBookmarks=true${query}`);
    expect(watch.events.map(({ type }) => type)).toEqual(['ADDED', 'BOOKMARK']);
    expect(watch.events[1]?.object.metadata.annotations).toEqual({ 'k8s.io/initial-events-end': 'true' });
  }
});
