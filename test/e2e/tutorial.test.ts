/**
 * Goal: users who type docs/tutorial.md, and then docs/cronjobs.md, see what they show: every command, in its order, in one shell beside
 * the quick start. Method: the blocks of commands are read from the documents; what a command prints is compared where its section makes a
 * point of it.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { findKubectls } from '../support/kubectl.ts';
import { LocalRun } from '../support/local-run.ts';
import { ReadersShell, shellBlocks } from '../support/shell-document.ts';
import { isSlow } from '../support/slow.ts';

const LIMIT_MS = 300_000;
const ROOT = path.join(import.meta.dirname, '..', '..');
const blocksOf = (document: string) => shellBlocks(readFileSync(path.join(ROOT, document), 'utf8'));
const [KUBECTL] = findKubectls(process.env).toReversed();

describe.skipIf(KUBECTL === undefined || !isSlow)('docs/tutorial.md', () => {
  let folder: string;
  let run: LocalRun;
  let shell: ReadersShell;

  beforeAll(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'switchyard-tutorial-'));
    const bin = path.join(folder, 'bin');
    mkdirSync(bin);
    symlinkSync(KUBECTL?.file ?? '', path.join(bin, 'kubectl'));
    const main = path.join(ROOT, 'manager', 'cli', 'main.ts');
    writeFileSync(path.join(bin, 'switchyard'), `#!/bin/sh\nexec '${process.execPath}' '${main}' "$@"\n`, { mode: 0o755 });
    run = new LocalRun({ args: ['--keep'] });
    await run.waitFor(/Everything stays up[\s\S]*^dashboard/m);
    shell = new ReadersShell(ROOT, {
      PATH: [bin, process.env['PATH']].join(path.delimiter),
      HOME: folder,
      // What the tutorial tells the reader to paste from the output.
      KUBECONFIG: run.file('kubeconfig'),
      SWITCHYARD_HISTORY_STORE: /SWITCHYARD_HISTORY_STORE=(\S+)/.exec(run.output)?.[1],
      SWITCHYARD_REDIS_URL: /^ +redis +(redis:\S+)$/m.exec(run.output)?.[1],
    });
  }, LIMIT_MS);
  afterAll(async () => {
    await run[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  }, LIMIT_MS);

  /** Types the commands under a heading, and returns what they print. */
  const type = async (heading: string, document = 'docs/tutorial.md'): Promise<string> => {
    const own = blocksOf(document).filter((block) => block.heading === heading);
    expect(own.length).toBeGreaterThan(0);
    let printed = '';
    for (const { line, text } of own) {
      const { code, output } = await shell.run(text);
      expect(code, `${document}:${line}\n${text}\n--\n${output}`).toBe(0);
      printed += output;
    }
    return printed;
  };

  // The sections build on each other: later ones find what earlier ones have left.
  test('shows two clusters and a queue', { timeout: LIMIT_MS }, async () => {
    const output = await type('Start three clusters');
    expect(output).toMatch(/^east +Ready /m);
    expect(output).toMatch(/^batch +- .* \S+\/4 /m);
  });

  test('runs a Job, whose output is printed', { timeout: LIMIT_MS }, async () => {
    const output = await type('Run a Job');
    expect(output).toMatch(/^hello$/m);
    expect(output).toMatch(/^hello +Complete +1\/1 .* (east|west)$/m);
  });

  test('moves a Job, whose finished indexes do not run again', { timeout: LIMIT_MS }, async () => {
    const output = await type('A Job that moves');
    const [, drained] = /^(east|west) takes no more Jobs/m.exec(output) ?? [];
    const [, completions, cluster] = /^march +Complete +(\S+) .* (east|west)$/m.exec(output) ?? [];
    expect({ completions, cluster }).toEqual({ completions: '6/6', cluster: drained === 'east' ? 'west' : 'east' });
  });

  test('borrows quota in a cohort', { timeout: LIMIT_MS }, async () => {
    expect(await type('Borrow quota')).toMatch(/^red +colours +0 +1 +3\/2 /m);
  });

  test('preempts the Job that borrows, and lets it run again', { timeout: LIMIT_MS }, async () => {
    const output = await type('Preemption');
    expect(output).toContain('It preempts other Jobs');
    expect(output).toContain('cluster queue red: flavor default is short of 1 cpu');
    expect(output).toContain('- Job default/urgent ended');
  });

  test('drains a cluster, and gives it back', { timeout: LIMIT_MS }, async () => {
    const output = await type('Drain a cluster');
    expect(output).toMatch(/default\/big: runs on (east|west); cluster \1 is draining/);
    expect(output).toMatch(/Why \(NoClusterFits\): .*(east|west): draining/);
    expect(output).toMatch(/- cluster (east|west) took Jobs/);
  });

  test('gives a tenant a queue, where a key is one submission', { timeout: LIMIT_MS }, async () => {
    const output = await type("A tenant's queue");
    expect(output.match(/report-1 complete: Job default\/report on (east|west)/g)).toHaveLength(2);
    expect(output).toContain('system:serviceaccount:default:switchyard-submitter');
  });

  test('runs the Jobs of a CronJob', { timeout: LIMIT_MS }, async () => {
    expect(await type('One label', 'docs/cronjobs.md')).toMatch(/^first +Complete +1\/1 .* (east|west)$/m);
  });

  test('has no commands beside these', () => {
    const headings = ['docs/tutorial.md', 'docs/cronjobs.md'].flatMap((document) => blocksOf(document).map(({ heading }) => heading));
    expect(new Set(headings).size).toBe(8);
  });
});

test.skipIf(KUBECTL !== undefined && isSlow)('the tutorial is typed with a kubectl', ({ skip }) =>
  skip('it takes three minutes: SWITCHYARD_SLOW=1, with kubectl on the PATH'),
);
