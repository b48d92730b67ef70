import { expect, test } from 'vitest';
import { ReadersShell, shellBlocks } from '../../support/shell-document.ts';

test('the commands of a document are its blocks of sh, by the headings above them, and what a reader does otherwise stands between', () => {
  const text = [
    '# One',
    '```sh',
    'a',
    '```',
    '```yaml',
    'kind: X',
    '```',
    '## Two',
    '- x',
    '  ```sh',
    '  b',
    '    c',
    '  ```',
    '<!-- here: restore home -->',
    '```',
    '# no',
    '```',
  ];
  expect(shellBlocks(text.join('\n'))).toEqual([
    { heading: 'One', line: 2, text: 'a' },
    { heading: 'Two', line: 10, text: 'b\n  c' },
    { heading: 'Two', line: 14, text: '#here restore home' },
  ]);
});

test('what a reader sets stays, until a command fails', async () => {
  const shell = new ReadersShell('/', { PATH: process.env['PATH'], GIVEN: 'by the test' });
  expect(await shell.run('NAMES="a b"\nWHO="it\'s me"\n: "${GIVEN:=default}"\necho one')).toEqual({ code: 0, output: 'one\n' });
  expect(await shell.run('for name in $NAMES; do echo "$name $WHO $GIVEN"; done')).toEqual({
    code: 0,
    output: "a it's me by the test\nb it's me by the test\n",
  });
  expect(await shell.run('echo two\nfalse\necho three')).toEqual({ code: 1, output: 'two\n' });
});
