import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { plain, plainDocument } from '../../../../manager/cli/plain-text.ts';
import { asJson, asYaml } from '../../../../manager/cli/rendering.ts';

const EVIL = 'a\u001b[31mb\u009bc\u202ed\ne\u2028f\u0000g\u007f';
const UNSHOWABLE = /(?!\n)[\p{Cc}\p{Cf}\p{Zl}]/u;

test('text that would steer a terminal is shown by its number, in one line', () => {
  expect(plain(EVIL)).toBe('a\\u{1b}[31mb\\u{9b}c\\u{202e}d\\u{a}e\\u{2028}f\\u{0}g\\u{7f}');
});

test('letters of all scripts, and wide ones, stay', () => {
  expect(plain('größe 大きさ 🚂')).toBe('größe 大きさ 🚂');
});

describe('documents', () => {
  const value = { [EVIL]: [EVIL, 'größe\nzwei', { tag: '\u{e0001}x' }] };

  test.each([
    ['JSON', asJson, (text: string): unknown => JSON.parse(text)],
    ['YAML', asYaml, (text: string): unknown => parse(text)],
  ])('%s shows nothing raw, and says exactly the same', (_name, render, read) => {
    const text = render({ ...value, plain: 'On' });
    expect(text).not.toMatch(UNSHOWABLE);
    expect(read(text)).toEqual({ ...value, plain: 'On' });
  });

  test('YAML without such text stays as people write it', () => {
    expect(asYaml({ a: 'b', on: 'On' })).toBe('a: b\n"on": "On"\n');
    expect(plainDocument('a\nb')).toBe('a\nb');
  });
});
