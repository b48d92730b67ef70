import { command } from '../command.ts';
import { IMPORT_PROGRAM } from './program.ts';

export const IMPORT_KUEUE = command({
  words: 'import kueue',
  summary: 'translate Kueue’s objects into Switchyard’s, and say what is lost',
  about: IMPORT_PROGRAM.about,
  operands: [{ usage: '<FILE...>', about: 'YAML; - is standard input' }],
  flags: IMPORT_PROGRAM.flags,
  examples: ['import kueue kueue.yaml > switchyard.yaml'],
  configOf: IMPORT_PROGRAM.configOf,
  load: async () => (await import('./run.ts')).runImport,
});
