/** Builds the image of both programs with whatever engine is there, and saves or pushes it. --help says more. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ROOT } from '../package/program-files.ts';
import { type Engine, ENGINES, imageCommands, probeCommand, REPOSITORY, withoutEngine } from './engines.ts';

const HELP = `npm run image [-- FLAGS]

Builds the image of manager, worker and the program switchyard, by the Dockerfile, with the first of ${ENGINES.join(', ')} that works here.

  --tag NAME:TAG        default: ${REPOSITORY}:VERSION, which the charts take
  --node-digest DIGEST  sha256:... of the base image node:VERSION-slim: for a build that must be the same again
  --platform PLATFORM   such as linux/arm64; default: that of this machine
  --save FILE           writes an archive that docker load, podman load and ctr images import read, for clusters without a registry
  --push                pushes it to the registry of its name
  --engine ENGINE       instead of the first that works
  --dry-run             prints the commands, and runs none`;
const EXIT_USAGE = 2;

process.exitCode = main();

function main(): number {
  let flags;
  try {
    flags = parseArgs({
      options: {
        tag: { type: 'string' },
        'node-digest': { type: 'string' },
        platform: { type: 'string' },
        save: { type: 'string' },
        push: { type: 'boolean', default: false },
        engine: { type: 'string' },
        'dry-run': { type: 'boolean', default: false },
        help: { type: 'boolean', short: 'h' },
      },
    }).values;
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
  if (flags.help === true) return console.log(HELP), 0;
  const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as { version: string };
  const digest = flags['node-digest'];
  if (digest !== undefined && !/^sha256:[0-9a-f]{64}$/.test(digest)) return refuse(`--node-digest ${digest} is no sha256: and 64 digits`);
  if (flags.engine !== undefined && !(ENGINES as readonly string[]).includes(flags.engine))
    return refuse(`--engine must be one of ${ENGINES.join(', ')}`);
  const wanted = flags.engine === undefined ? ENGINES : ENGINES.filter((engine) => engine === flags.engine);
  const engine = flags['dry-run'] ? wanted[0] : wanted.find(works);
  if (engine === undefined) {
    console.error(`image: ${withoutEngine(wanted.filter(isInstalled))}`);
    return 1;
  }
  const epoch = git('log', '-1', '--format=%ct');
  const commands = imageCommands(engine, {
    tag: flags.tag ?? `${REPOSITORY}:${version}`,
    nodeDigest: digest,
    platform: flags.platform,
    revision: git('rev-parse', 'HEAD'),
    sourceDateEpoch: epoch === undefined ? undefined : Number(epoch),
    version,
    context: ROOT,
    save: flags.save === undefined ? undefined : path.resolve(flags.save),
    push: flags.push,
  });
  for (const [command, ...args] of commands) {
    console.log(`$ ${[command, ...args].join(' ')}`);
    if (flags['dry-run']) continue;
    const { status } = spawnSync(command, args, { stdio: 'inherit' });
    if (status !== 0) return 1;
  }
  return 0;
}

function refuse(problem: string): number {
  console.error(`image: ${problem}; --help lists the flags`);
  return EXIT_USAGE;
}

function isInstalled(engine: Engine): boolean {
  return spawnSync(engine, ['--version'], { stdio: 'ignore' }).error === undefined;
}

function works(engine: Engine): boolean {
  const [command, ...args] = probeCommand(engine);
  return spawnSync(command, args, { stdio: 'ignore' }).status === 0;
}

/** undefined where there is no git, or no repository: an archive of the sources builds as well. */
function git(...args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync('git', args, { cwd: ROOT, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}
