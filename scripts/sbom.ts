/** Writes a bill of materials (CycloneDX) of what is installed with the programs, by npm itself, and checks it. --help says more. */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { type BillOfMaterials, problemsOf, withoutTools } from './supply-chain/bill-of-materials.ts';
import { npm, readLock, ROOT } from './supply-chain/npm.ts';
import { productionPackages } from './supply-chain/production-packages.ts';

const HELP = `npm run sbom [-- --output FILE]

Writes a software bill of materials in CycloneDX's JSON, made by npm from package-lock.json: every package that is installed with the programs.

  --output FILE   default: sbom.cdx.json`;
const TIMEOUT_MS = 120_000;

const { values } = parseArgs({ options: { output: { type: 'string', default: 'sbom.cdx.json' }, help: { type: 'boolean', short: 'h' } } });
process.exitCode = values.help === true ? (console.log(HELP), 0) : write(path.resolve(ROOT, values.output));

function write(file: string): number {
  const made = npm(['sbom', '--package-lock-only', '--sbom-format=cyclonedx', '--sbom-type=application'], TIMEOUT_MS);
  if (made.status !== 0) {
    console.error(`npm sbom failed:\n${made.stderr}`);
    return 1;
  }
  const packages = productionPackages(readLock());
  const bill = withoutTools(JSON.parse(made.stdout) as BillOfMaterials, packages);
  // npm calls the application by the name of its folder.
  const { name } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { name: string };
  if (bill.metadata?.component !== undefined) bill.metadata.component.name = name;
  const problems = problemsOf(bill, packages);
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) return 1;
  writeFileSync(file, `${JSON.stringify(bill, null, 2)}\n`);
  console.log(`sbom: ${bill.components?.length ?? 0} components in ${path.relative(process.cwd(), file)}`);
  return 0;
}
