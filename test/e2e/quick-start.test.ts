/** `npm start`, as a user meets it: real processes, a real Redis, real containers' commands, kubectl. */
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { EXAMPLES } from '../../manager/cli/local/examples.ts';
import { isAlive, LocalRun } from '../support/local-run.ts';

const RUN_LIMIT_MS = 90_000;
const hasKubectl = spawnSync('kubectl', ['version', '--client']).status === 0;
const kubectl = (kubeconfig: string, ...args: string[]): string =>
  execFileSync('kubectl', ['--kubeconfig', kubeconfig, ...args], { encoding: 'utf8' });
/** The line of the summary about one Job, its columns separated by single blanks. */
const summaryOf = (output: string, name: string): string =>
  output
    .split('\n')
    .findLast((line) => new RegExp(`^${name} +(API|BullMQ) `).test(line))
    ?.replace(/ +/g, ' ') ?? '';

function expectTheSummary(output: string): void {
  for (const { name, through, ends, reason, succeeded } of EXAMPLES) {
    const outcome = reason === undefined ? ends : `${ends} \\(${reason}\\)`;
    expect(summaryOf(output, name)).toMatch(new RegExp(`^${name} ${through} (east|west) ${outcome} ${succeeded} `));
  }
  expect(output).toContain('3.14159265358979323846264338327950288419');
  expect(output).toMatch(/word-count: \[0\] Apache-2\.0 \d+, .*\[5\] MPL-2\.0 \d+; \d{5} words in all/);
  expect(output).toContain('Every Job ended as expected');
}

describe('npm start', () => {
  test('every example ends as expected, on both clusters, and nothing is left running', { timeout: RUN_LIMIT_MS }, async () => {
    await using run = new LocalRun();
    await run.waitFor(/are up after/);
    const pids = Object.values(run.pids());
    expect(await run.exitCode).toBe(0);
    expectTheSummary(run.output);
    expect(run.output).toMatch(/ on east/);
    expect(run.output).toMatch(/ on west/);
    expect(run.output).toContain('waiting: Waiting: ');
    expect(run.output).toContain('job_controller_jobs_by_external_controller_total{controller_name="switchyard.dev/manager"} 5');
    expect(run.output).toMatch(/submitter of word-count: resolved with \{.*"succeeded":6/);
    expect(run.output).toMatch(/submitter of failure-policy: rejected with PodFailurePolicy: .*exit code 42/);
    expect(pids).toHaveLength(5);
    expect(pids.filter(isAlive)).toEqual([]);
  });

  test('killing Redis, the manager and every worker again and again loses nothing', { timeout: RUN_LIMIT_MS }, async () => {
    await using run = new LocalRun();
    await run.waitFor(/are up after/);
    const kill = (name: string): void => void process.kill(run.pids()[name] ?? 0, 'SIGKILL');
    await run.waitFor(/word-count: (Waiting|Dispatching|Running)/);
    kill('switchyard-manager');
    await run.waitFor(/pi: Running/);
    kill('switchyard-worker-east');
    kill('switchyard-worker-west');
    await run.waitFor(/failure-policy: (Running|Failed)/);
    kill('redis');
    await run.waitFor(/pi: Complete/);
    kill('switchyard-manager');
    kill('switchyard-worker-west');
    expect(await run.exitCode, run.output).toBe(0);
    expectTheSummary(run.output);
  });

  test.runIf(hasKubectl)(
    'with --keep kubectl sees what the table says, and Ctrl-C ends everything',
    { timeout: RUN_LIMIT_MS },
    async () => {
      await using run = new LocalRun(['--keep']);
      await run.waitFor(/Everything stays up/);
      const manager = run.file('manager.kubeconfig');
      const jobs = kubectl(manager, 'get', 'jobs', '--no-headers');
      expect(jobs).toMatch(/^pi +Complete +4\/4 /m);
      expect(jobs).toMatch(/^word-count +Complete +6\/6 /m);
      expect(jobs).toMatch(/^failure-policy +Failed +0\/3 /m);
      expect(kubectl(manager, 'get', 'workerclusters', '--no-headers')).toMatch(/^east +Active +True +True /m);

      kubectl(manager, 'delete', 'job', 'pi', '--cascade=background');
      kubectl(manager, 'create', '-f', 'examples/pi.yaml');
      kubectl(manager, 'wait', '--for=condition=complete', 'job/pi', '--timeout=30s');
      for (const cluster of ['east', 'west']) {
        // What is finished at home has no copy left anywhere.
        kubectl(run.file(`${cluster}.kubeconfig`), 'wait', '--for=delete', 'job/pi', '--timeout=10s');
      }
      const pids = Object.values(run.pids());
      run.interrupt();
      expect(await run.exitCode).toBe(130);
      expect(pids.filter(isAlive)).toEqual([]);
    },
  );
});

describe('npm start on a machine that is not as it should be', () => {
  /** Everything printed, which should be one line. */
  const complaint = async (run: LocalRun): Promise<string> => {
    expect(await run.exitCode).not.toBe(0);
    expect(run.output.trim().split('\n')).toHaveLength(1);
    return run.output;
  };

  test('a port in use is named', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    await using run = new LocalRun(['--port-base', String(port)]);
    expect(await complaint(run)).toContain(`port ${port} is in use`);
    server.close();
  });

  test('an unknown option is named, and help is pointed at', async () => {
    await using run = new LocalRun(['--kep']);
    expect(await complaint(run)).toMatch(/'--kep'.*--help/);
    expect(await run.exitCode).toBe(2);
  });

  test('without Redis it says which program is missing', async () => {
    await using run = new LocalRun([], { REDIS_SERVER: '/nonexistent/redis-server' });
    expect(await complaint(run)).toMatch(/redis cannot be started: .*\/nonexistent\/redis-server/);
  });

  test('a directory that holds something else is left alone', async () => {
    await using run = new LocalRun(['--dir', path.join(import.meta.dirname)]);
    expect(await complaint(run)).toContain('it holds files of something else');
  });

  test.skipIf(process.getuid?.() === 0)('an unwritable directory is named', async () => {
    await using run = new LocalRun();
    const closed = path.join(run.directory, 'closed');
    mkdirSync(closed);
    chmodSync(closed, 0o500);
    await using second = new LocalRun(['--dir', path.join(closed, 'run')]);
    expect(await complaint(second)).toMatch(/closed\/run cannot be used: EACCES/);
  });
});
