/** Asks the registry for known vulnerabilities of what is installed with the programs. --help says more. */
import { parseArgs } from 'node:util';
import { readAudit } from './supply-chain/audit-report.ts';
import { npm } from './supply-chain/npm.ts';

const HELP = `npm run audit [-- --allow-unanswered]

Asks the npm registry for known vulnerabilities, of high severity or worse, of the packages that are installed with the programs.
Exit status: 0 none, 1 some, 3 the registry gave no answer.

  --allow-unanswered   exit with 0, and a warning, when the registry gives no answer`;
const EXIT_UNANSWERED = 3;
const TIMEOUT_MS = 120_000;

const { values } = parseArgs({ options: { 'allow-unanswered': { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } });
process.exitCode = values.help === true ? (console.log(HELP), 0) : audit(values['allow-unanswered'] === true);

function audit(allowUnanswered: boolean): number {
  const report = readAudit(npm(['audit', '--json', '--omit=dev', '--audit-level=high', '--fetch-retries=1'], TIMEOUT_MS).stdout);
  if (report.kind === 'Unanswered') {
    console.error(`audit: NOTHING WAS CHECKED: the registry gave no answer (${report.why})`);
    if (!allowUnanswered) console.error('Try again with the registry in reach; --allow-unanswered lets this pass.');
    return allowUnanswered ? 0 : EXIT_UNANSWERED;
  }
  for (const finding of report.findings) console.error(finding);
  console.log(
    `audit: ${report.findings.length} packages with vulnerabilities of high severity or worse, ${report.others} with lesser ones`,
  );
  return report.findings.length === 0 ? 0 : 1;
}
