import { expect, test } from 'vitest';
import { completionScript, SHELLS } from '../../../../../manager/cli/completion/scripts.ts';
import { switchyardHere } from '../../../../support/switchyard-here.ts';

test.each(SHELLS)('%s gets its own script, as text or as a value', async (shell) => {
  const script = completionScript(shell);
  expect(await switchyardHere(['completion', shell])).toEqual({ code: 0, stdout: `${script.trimEnd()}\n`, stderr: '' });
  const { stdout } = await switchyardHere(['completion', shell, '-o', 'json']);
  expect(JSON.parse(stdout)).toEqual({ shell, script });
});

test('another shell is told which there are', async () => {
  expect(await switchyardHere(['completion', 'tcsh'])).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/bash, zsh.*fish/) as string,
  });
  expect(await switchyardHere(['completion'])).toMatchObject({ code: 2, stdout: '' });
});
