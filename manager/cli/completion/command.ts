import { FlagError } from '../../../shared/runtime/flags.ts';
import { FORM_FLAG } from '../cluster-flags.ts';
import { command } from '../command.ts';
import { report } from '../report.ts';
import { completionScript, SHELLS } from './scripts.ts';

export const COMPLETION = command({
  words: 'completion',
  summary: 'print what has a shell complete commands, flags and names',
  about:
    'The shell then asks this program for what could come next. Names of Jobs and clusters are asked of the manager cluster, for two seconds at most. ' +
    'bash: source <(switchyard completion bash). zsh: the same, behind compinit. fish: switchyard completion fish | source.',
  operands: [{ usage: '<SHELL>', about: 'bash, zsh or fish', choices: SHELLS }],
  flags: FORM_FLAG,
  examples: ['completion bash', 'completion fish'],
  configOf({ output }, [word = '']) {
    const shell = SHELLS.find((each) => each === word);
    if (shell === undefined) throw new FlagError(`SHELL: ${JSON.stringify(word)} is unknown; choose from ${SHELLS.join(', ')}`);
    return { shell, output };
  },
  load:
    async () =>
    async ({ shell, output }, session) => {
      const script = completionScript(shell);
      await report(session, output, { lines: [script.trimEnd()], value: { shell, script } });
      return 0;
    },
});
