import { expect, test } from 'vitest';
import { noticesText } from '../../../../scripts/package/notices.ts';

const MIT = 'The MIT License\n\nby many\n';
const aPackage = (name: string, version: string, texts: readonly string[] = [MIT]) => ({ name, version, license: 'MIT', texts });

test('each package is named with its licence, and packages with the same text share it', () => {
  const text = noticesText([
    aPackage('b', '1.0.0'),
    aPackage('c', '1.0.0', ['Other', 'NOTICE']),
    aPackage('a', '2.0.0'),
    aPackage('a', '1.0.0'),
  ]);
  expect(text.replaceAll('-'.repeat(80), '==')).toBe(
    [
      'The programs contain code of the following packages, under the licences that follow their names.',
      '',
      '==',
      'a 1.0.0 (MIT)',
      'a 2.0.0 (MIT)',
      'b 1.0.0 (MIT)',
      '',
      'The MIT License\n\nby many',
      '',
      '==',
      'c 1.0.0 (MIT)',
      '',
      'Other\n\nNOTICE',
      '',
    ].join('\n'),
  );
});

test('a package without a licence is not passed on', () => {
  expect(() => noticesText([aPackage('a', '1.0.0', [])])).toThrow('a 1.0.0 brings no licence');
});
