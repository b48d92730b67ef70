#!/usr/bin/env node
/** `npm start`. */
import { runCommandLine } from '../../shared/runtime/command-line.ts';
import { LOCAL_PROGRAM } from './local/config.ts';
import { runLocal } from './local/run.ts';

await runCommandLine(LOCAL_PROGRAM, runLocal);
