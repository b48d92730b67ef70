import { describe, expect, test } from 'vitest';
import { readContinueToken, writeContinueToken } from '../../../../../shared/controlplane/registry/continue-token.ts';
import { type Bench, aControlPlane, CONFIG_MAPS, configMap } from '../a-control-plane.ts';

type List = {
  items: { metadata: { name: string }; kind?: string }[];
  metadata: { resourceVersion: string; continue?: string; remainingItemCount?: number };
};
const list = async ({ call }: Bench, query = ''): Promise<List> => (await call('GET', `${CONFIG_MAPS}${query}`)).body as unknown as List;
const names = ({ items }: List): string[] => items.map(({ metadata }) => metadata.name);
const withFive = async (): Promise<Bench> => {
  const bench = await aControlPlane();
  for (const name of ['e', 'c', 'a', 'd', 'b']) {
    await bench.call('POST', CONFIG_MAPS, configMap(name, {}, { labels: { odd: String('ace'.includes(name)) } }));
  }
  return bench;
};

describe('a list in pages', () => {
  test('keeps to the snapshot of its first page', async () => {
    const bench = await withFive();
    const first = await list(bench, '?limit=2');
    expect([names(first), first.metadata.remainingItemCount]).toEqual([['a', 'b'], 3]);
    await bench.call('POST', CONFIG_MAPS, configMap('bb'));
    await bench.call('DELETE', `${CONFIG_MAPS}/e`);
    const rest = await list(bench, `?continue=${first.metadata.continue}`);
    expect([names(rest), rest.metadata.resourceVersion]).toEqual([['c', 'd', 'e'], first.metadata.resourceVersion]);
  });

  test('gives pages of matching objects and no count when there is a selector', async () => {
    const bench = await withFive();
    const first = await list(bench, '?limit=2&labelSelector=odd%3Dtrue');
    expect([names(first), first.metadata.remainingItemCount]).toEqual([['a', 'c'], undefined]);
    expect(names(await list(bench, `?limit=2&labelSelector=odd%3Dtrue&continue=${first.metadata.continue}`))).toEqual(['e']);
  });

  test('is not paged at resourceVersion 0', async () => {
    expect(names(await list(await withFive(), '?limit=2&resourceVersion=0'))).toEqual(['a', 'b', 'c', 'd', 'e']);
  });
});

describe('a list at a version', () => {
  test('is exactly that version when asked, and not older otherwise', async () => {
    const bench = await withFive();
    const { metadata } = await list(bench);
    await bench.call('DELETE', `${CONFIG_MAPS}/a`);
    const at = `?resourceVersion=${metadata.resourceVersion}`;
    expect(names(await list(bench, `${at}&resourceVersionMatch=Exact`))).toContain('a');
    expect(names(await list(bench, at))).not.toContain('a');
  });

  test('of the future waits three seconds for it, then gives up', async () => {
    const bench = await aControlPlane();
    const waiting = bench.call('GET', `${CONFIG_MAPS}?resourceVersion=99999`);
    await bench.clock.advance(3000);
    expect(await waiting).toMatchObject({ status: 504, body: { reason: 'Timeout', details: { retryAfterSeconds: 1 } } });
  });

  test('of the near future is answered when it comes', async () => {
    const bench = await aControlPlane();
    const { metadata } = await list(bench);
    const waiting = list(bench, `?resourceVersion=${Number(metadata.resourceVersion) + 1}`);
    await bench.call('POST', CONFIG_MAPS, configMap('a'));
    await bench.clock.advance(100);
    expect(names(await waiting)).toEqual(['a']);
  });
});

describe('a continue token', () => {
  test('is read back as it was written', () => {
    const token = { revision: 7, start: 'ns/b\0' };
    expect(readContinueToken(writeContinueToken(token))).toEqual(token);
  });

  test.each([
    ['garbage', "invalid character '\\u0081' looking for beginning of value"],
    ['e30', 'server does not recognize this encoded version '],
    ['a$b', 'illegal base64 data at input byte 1'],
    [
      Buffer.from('{"v":"meta.k8s.io/v1","rv":0,"start":"a"}').toString('base64url'),
      'incorrect encoded start resourceVersion (version meta.k8s.io/v1)',
    ],
  ])('that was not is refused: %s', (token, why) => {
    expect(() => readContinueToken(token)).toThrow(`invalid continue token: continue key is not valid: ${why}`);
  });
});
