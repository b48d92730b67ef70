/** Checks the licences of what is installed with the programs, and that docs/licenses.md lists them. --help says more. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { licenseReport } from './supply-chain/license-report.ts';
import { readLock, ROOT } from './supply-chain/npm.ts';
import { productionPackages } from './supply-chain/production-packages.ts';

const HELP = `npm run licenses [-- --write]

Fails when a package that is installed with the programs has a licence that is not on the list of scripts/supply-chain/license-report.ts, or
when docs/licenses.md is out of date.

  --write   writes docs/licenses.md`;
const FILE = path.join(ROOT, 'docs', 'licenses.md');

const { values } = parseArgs({ options: { write: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } });
process.exitCode = values.help === true ? (console.log(HELP), 0) : check(values.write === true);

function check(write: boolean): number {
  const packages = productionPackages(readLock());
  const { text, refused } = licenseReport(packages);
  if (write) writeFileSync(FILE, text);
  const isCurrent = readFileSync(FILE, 'utf8') === text;
  for (const each of refused) console.error(each);
  if (!isCurrent) console.error('docs/licenses.md is out of date: npm run licenses -- --write');
  console.log(`licenses: ${packages.length} packages, ${refused.length} with a licence that is not allowed`);
  return refused.length === 0 && isCurrent ? 0 : 1;
}
