/** `npm run bench -- SUITE [options]`: measures, prints, and exits with 1 when a figure is outside its permitted range. */
import { controlPlaneSuite } from './control-plane.ts';
import { dispatchSuite } from './dispatch.ts';
import { jobControllerSuite } from './job-controller.ts';
import { startUpSuite } from './start-up.ts';
import { type Suite, UsageError } from './suite.ts';

const SUITES: Readonly<Record<string, Suite>> = {
  'job-controller': jobControllerSuite,
  dispatch: dispatchSuite,
  'control-plane': controlPlaneSuite,
  'start-up': startUpSuite,
};

const EXIT_USAGE = 2;
const EXIT_TERMINATED = 143;
const EXIT_INTERRUPTED = 130;

// By an orderly exit, because programs started by a suite end with this process.
process.once('SIGTERM', () => process.exit(EXIT_TERMINATED));
process.once('SIGINT', () => process.exit(EXIT_INTERRUPTED));

process.exitCode = await main(process.argv.slice(2));

async function main([name = '--help', ...args]: readonly string[]): Promise<number> {
  if (name === '--help' || name === '-h') {
    console.log(helpText());
    return 0;
  }
  const suite = SUITES[name];
  if (suite === undefined) {
    console.error(`There is no suite ${JSON.stringify(name)}: choose from ${Object.keys(SUITES).join(', ')}. See npm run bench -- --help.`);
    return EXIT_USAGE;
  }
  if (args.includes('--help') || args.includes('-h')) {
    console.log(suiteText(name, suite));
    return 0;
  }
  try {
    return (await suite.run(args)) ? 0 : 1;
  } catch (error) {
    if (!isUsageError(error)) throw error;
    console.error(`${error.message}. See npm run bench -- ${name} --help.`);
    return EXIT_USAGE;
  }
}

function suiteText(name: string, { about, usage }: Suite): string {
  return `${name}\n    ${about}\n\n${usage}`;
}

function helpText(): string {
  const suites = Object.entries(SUITES).map(([name, suite]) => suiteText(name, suite));
  return `Usage: npm run bench -- SUITE [options]\n\n${suites.join('\n')}`;
}

/** A suite's own word for it, or that of parseArgs. */
function isUsageError(error: unknown): error is Error {
  if (error instanceof UsageError) return true;
  return error instanceof Error && 'code' in error && String(error.code).startsWith('ERR_PARSE_ARGS');
}
