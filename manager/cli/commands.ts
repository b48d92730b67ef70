import type { Command } from './command.ts';
import { EXPLAIN } from './explain/command.ts';
import { IMPORT_KUEUE } from './import-kueue/command.ts';
import { LOCAL } from './local/command.ts';

/** Every command of the program `switchyard`, in the order in which its help lists them. */
export const COMMANDS: readonly Command[] = [EXPLAIN, IMPORT_KUEUE, LOCAL];
