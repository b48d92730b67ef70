import { runCommandLine } from '../../shared/runtime/command-line.ts';
import { CommandError } from './command-error.ts';
import { EXPLAIN_PROGRAM } from './explain/program.ts';
import { runExplain } from './explain/run.ts';
import { processSession } from './process-session.ts';

const session = processSession();
await runCommandLine(EXPLAIN_PROGRAM, async (config) => {
  try {
    return await runExplain(config, session);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    await session.errors.write(`${EXPLAIN_PROGRAM.name}: ${error.message}\n`);
    return error.exitCode;
  }
});
