import { runCommandLine } from '../../shared/runtime/command-line.ts';
import { EXPLAIN_PROGRAM } from './explain/program.ts';
import { runExplain } from './explain/run.ts';

await runCommandLine(EXPLAIN_PROGRAM, runExplain);
