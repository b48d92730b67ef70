#!/usr/bin/env node
/** The program `switchyard`, also as `kubectl switchyard`. */
import path from 'node:path';
import { processSession } from './process-session.ts';
import { runSwitchyard } from './switchyard.ts';

const name = path.basename(process.argv[1] ?? '').startsWith('kubectl-') ? 'kubectl switchyard' : 'switchyard';
process.exit(await runSwitchyard(process.argv.slice(2), name, processSession()));
