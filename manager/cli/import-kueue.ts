import { runCommandLine } from '../../shared/runtime/command-line.ts';
import { IMPORT_PROGRAM } from './import-kueue/program.ts';
import { runImport } from './import-kueue/run.ts';
import { processSession } from './process-session.ts';

await runCommandLine(IMPORT_PROGRAM, (config) => runImport(config, processSession()));
