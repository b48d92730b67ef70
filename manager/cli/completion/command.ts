import { FlagError } from '../../../shared/runtime/flags.ts';
import { FORM_FLAG } from '../cluster-flags.ts';
import { command } from '../command.ts';
import { SHELLS } from './scripts.ts';

export const COMPLETION = command({
  words: 'completion',
  summary: 'print a shell completion script',
  about:
    'The script asks this program for completions. Names of Jobs and clusters come from the manager cluster, within two seconds. ' +
    'bash: source <(switchyard completion bash). zsh: the same, after compinit. fish: switchyard completion fish | source.',
  operands: [{ usage: '<SHELL>', about: 'bash, zsh or fish', choices: SHELLS }],
  flags: FORM_FLAG,
  examples: ['completion bash', 'completion fish'],
  configOf({ output }, [word = '']) {
    const shell = SHELLS.find((each) => each === word);
    if (shell === undefined) throw new FlagError(`SHELL: ${JSON.stringify(word)} is unknown; choose from ${SHELLS.join(', ')}`);
    return { shell, output };
  },
  async load() {
    const [{ report }, { completionScript }] = await Promise.all([import('../report.ts'), import('./scripts.ts')]);
    return async ({ shell, output }, session) => {
      const script = completionScript(shell);
      await report(session, output, { lines: [script.trimEnd()], value: { shell, script } });
      return 0;
    };
  },
});
