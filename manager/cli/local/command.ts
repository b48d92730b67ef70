import { command } from '../command.ts';
import { LOCAL_PROGRAM } from './config.ts';

export const LOCAL = command({
  words: 'local',
  summary: 'start a manager cluster and two worker clusters on this machine, and run examples on them',
  about: LOCAL_PROGRAM.about,
  flags: LOCAL_PROGRAM.flags,
  examples: ['local', 'local --keep', 'local --kinds'],
  configOf: LOCAL_PROGRAM.configOf,
  load: async () => (await import('./run.ts')).runLocal,
});
