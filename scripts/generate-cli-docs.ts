#!/usr/bin/env node
/** Writes docs/cli.md from the descriptions of the commands; test/unit/manager/cli/command-docs.test.ts compares. */
import { writeFileSync } from 'node:fs';
import { commandDocs } from '../manager/cli/command-docs.ts';
import { COMMANDS } from '../manager/cli/commands.ts';

writeFileSync(new URL('../docs/cli.md', import.meta.url), commandDocs(COMMANDS));
