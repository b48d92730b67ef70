/** `npm start`, as a user meets it: real processes, a real Redis, real containers' commands, kubectl. */
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { createConnection, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { JobRow } from '../../manager/cli/job-row.ts';
import { EXAMPLES } from '../../manager/cli/local/examples.ts';
import { connect } from '../../shared/client/client.ts';
import { isAlive, LocalRun } from '../support/local-run.ts';

/** Many times what it takes on a quiet machine. */
const RUN_LIMIT_MS = 300_000;
const ROOT = path.join(import.meta.dirname, '..', '..');
const execute = promisify(execFile);
/** It asks for more than all clusters have. */
const HUGE_JOB = path.join(import.meta.dirname, 'huge-job.yaml');
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
    const why = reason === undefined ? '' : ` ${reason}`;
    expect(summaryOf(output, name)).toMatch(new RegExp(`^${name} ${through} (east|west) ${ends} ${succeeded} \\d+ \\S+ \\S+ \\S+${why}$`));
  }
  expect(output).toContain('3.14159265358979323846264338327950288419');
  expect(output).toMatch(/word-count: \[0\] Apache-2\.0 \d+, .*\[5\] MPL-2\.0 \d+; \d{5} words in all/);
  expect(output).toContain('Every Job ended as expected');
}

describe('npm start', () => {
  test('killing Redis, the manager and every worker again and again loses nothing, as the summary tells a program', {
    timeout: RUN_LIMIT_MS,
  }, async () => {
    await using run = new LocalRun({ args: ['-o', 'json'] });
    await run.waitFor(/are up after/);
    // Each of these lines comes, whichever states between them went by unseen.
    await run.waitFor(/word-count: /);
    await run.kill('switchyard-manager');
    await run.waitFor(/pi: (Dispatching|Running|Complete)/);
    await run.kill('switchyard-worker-east');
    await run.kill('switchyard-worker-west');
    await run.waitFor(/failure-policy: (Dispatching|Running|Failed)/);
    await run.kill('redis');
    await run.waitFor(/pi: Complete/);
    await run.kill('switchyard-manager');
    await run.kill('switchyard-worker-west');
    expect(await run.exitCode, run.output).toBe(0);
    const { jobs, problems } = JSON.parse(run.output.slice(run.output.indexOf('\n{\n'))) as { jobs: JobRow[]; problems: string[] };
    expect(problems).toEqual([]);
    const wanted = EXAMPLES.map(({ name, ends, succeeded }) => ({ name, state: ends, succeeded }));
    expect(jobs.map(({ name, state, succeeded }) => ({ name, state, succeeded }))).toEqual(expect.arrayContaining(wanted));
  });
});

/** What `--keep` prints to try: commands for a shell, in their order. */
const triesIn = (output: string): string[] =>
  (/^Try in another terminal.*\n((?: {2}.*\n)+)/m.exec(output)?.[1] ?? '')
    .split('\n')
    .flatMap((line) => line.match(/^ {2}(.*)/)?.[1] ?? []);

describe('npm start -- --keep', () => {
  let run: LocalRun;
  beforeAll(async () => {
    run = new LocalRun({ args: ['--keep'] });
    await run.waitFor(/Everything stays up[\s\S]*^dashboard/m);
  }, RUN_LIMIT_MS);
  afterAll(() => run[Symbol.asyncDispose](), RUN_LIMIT_MS);

  test('another run lives beside it: every example ends as expected, on both clusters, and nothing of that run is left running', {
    timeout: RUN_LIMIT_MS,
  }, async () => {
    const cwd = mkdtempSync(path.join(tmpdir(), 'switchyard-checkout-'));
    onTestFinished(() => rmSync(cwd, { recursive: true, force: true }));
    const ofKept = Object.values(run.pids());
    await using beside = new LocalRun({ cwd, directory: path.join(cwd, '.switchyard', '1') });
    await beside.waitFor(/are up after/);
    expect(beside.output).toContain('in .switchyard/1\n');
    const pids = Object.values(beside.pids());
    expect(await beside.exitCode, beside.output).toBe(0);
    expectTheSummary(beside.output);
    expect(beside.output).toMatch(/ on east/);
    expect(beside.output).toMatch(/ on west/);
    expect(beside.output).toContain('job_controller_jobs_by_external_controller_total{controller_name="switchyard.dev/manager"} 5');
    expect(beside.output).toMatch(/submitter of word-count: resolved with \{.*"succeeded": 6/);
    expect(beside.output).toMatch(/submitter of failure-policy: rejected with PodFailurePolicy: .*exit code 42/);
    expect(pids).toHaveLength(5);
    expect(pids.filter(isAlive)).toEqual([]);

    await using third = new LocalRun({ cwd, directory: run.directory, args: ['--dir', run.directory] });
    expect(await third.exitCode).toBe(2);
    expect(third.output).toBe(`npm start: --dir ${run.directory} is used by the run of process ${run.pid}\n`);
    expect(ofKept.filter(isAlive)).toEqual(ofKept);
  });

  test.runIf(hasKubectl)('kubectl sees what the table says', { timeout: RUN_LIMIT_MS }, async () => {
    const manager = run.file('manager.kubeconfig');
    const jobs = kubectl(manager, 'get', 'jobs', '--no-headers');
    expect(jobs).toMatch(/^pi +Complete +4\/4 /m);
    expect(jobs).toMatch(/^word-count +Complete +6\/6 /m);
    expect(jobs).toMatch(/^failure-policy +Failed +0\/3 /m);
    expect(kubectl(manager, 'get', 'workerclusters', '--no-headers')).toMatch(/^east +Active +True +True /m);

    kubectl(manager, 'delete', 'job', 'pi', '--cascade=background');
    kubectl(manager, 'create', '-f', 'examples/pi.yaml');
    kubectl(manager, 'wait', '--for=condition=complete', 'job/pi', '--timeout=120s');
    for (const cluster of ['east', 'west']) {
      // What is finished at home has no copy left anywhere.
      kubectl(run.file(`${cluster}.kubeconfig`), 'wait', '--for=delete', 'job/pi', '--timeout=60s');
    }

    // Whoever types here is a user like any other, administrator or not: a Job that fits nowhere stays where it is.
    // What its pods refer to travels with a Job, and is gone with its copy.
    kubectl(manager, 'create', '-f', 'examples/carried.yaml');
    kubectl(manager, 'wait', '--for=condition=complete', 'job/carried', '--timeout=120s');
    expect(kubectl(manager, 'describe', 'job', 'carried')).toMatch(/Carried .* configmap greeting as greeting-[0-9a-f]{12}/);
    for (const cluster of ['east', 'west']) {
      kubectl(run.file(`${cluster}.kubeconfig`), 'wait', '--for=delete', 'job/carried', '--timeout=60s');
      const left = () => kubectl(run.file(`${cluster}.kubeconfig`), 'get', 'configmap,secret', '-l', 'switchyard.dev/origin', '-o', 'name');
      await expect.poll(left).toBe('');
    }
    kubectl(manager, 'create', '-f', HUGE_JOB);
    const attempt = (...args: string[]): string => spawnSync('kubectl', ['--kubeconfig', manager, ...args], { encoding: 'utf8' }).stderr;
    const patch = (body: object): string => attempt('patch', 'job/huge', '--type=merge', '--patch', JSON.stringify(body));
    expect(patch({ spec: { suspend: false } })).toMatch(/spec\.suspend: is set to false by the manager when the Job is admitted/);
    expect(patch({ metadata: { annotations: { 'switchyard.dev/admission': '{}' } } })).toMatch(
      /admission\]: is written by Switchyard only/,
    );
    expect(attempt('patch', 'job/huge', '--subresource=status', '--type=merge', '--patch', '{"status":{"active":1}}')).toMatch(
      /status: is written by Switchyard only/,
    );
    expect(kubectl(manager, 'get', 'job/huge', '--output=jsonpath={.spec.suspend}{.metadata.annotations}')).toBe(
      'true{"switchyard.dev/created-by":"kubernetes-admin"}',
    );
    kubectl(manager, 'delete', 'job', 'huge');
    expect(kubectl(manager, 'auth', 'whoami', '--kubeconfig', run.file('switchyard-manager.kubeconfig'))).toContain(
      'system:serviceaccount:switchyard-system:switchyard-manager',
    );
    const metrics = /^ +switchyard-manager +(http:\S+)\/metrics$/m;
    await run.waitFor(metrics);
    expect(await (await fetch(`${metrics.exec(run.output)?.[1]}/readyz`)).text()).toBe('ok');
  });

  test.runIf(hasKubectl)(
    'what it says to try works as it is pasted: a Job shows what it writes, and its log is there afterwards',
    {
      timeout: RUN_LIMIT_MS,
    },
    async () => {
      const tries = triesIn(run.output);
      const setUp = tries.filter((line) => /^(alias|export) /.test(line));
      const commands = tries.filter((line) => line.startsWith('switchyard '));
      expect(setUp).toHaveLength(2);
      expect(commands[0]).toMatch(/^switchyard run /);
      // `sh` reads an alias where it stands on a line before.
      const paste = async (line: string): Promise<{ code: number; stdout: string; stderr: string }> => {
        const child = execute('sh', ['-c', [...setUp, line].join('\n')], { cwd: ROOT, encoding: 'utf8' });
        return child.then(
          (said) => ({ code: 0, ...said }),
          (error: { code: number; stdout: string; stderr: string }) => error,
        );
      };
      for (const line of commands) {
        const { code, stdout, stderr } = await paste(line);
        expect(code, `${line}\n${stdout}${stderr}`).toBe(0);
        if (line.startsWith('switchyard run ')) {
          expect(stdout).toBe('hello, 1\nhello, 2\nhello, 3\n');
          const name = /default\/(run-\w+) submitted/.exec(stderr)?.[1] ?? '';
          expect(await paste(`switchyard logs ${name}`)).toMatchObject({ code: 0, stdout });
        }
        // Of how many of its pods is a matter of time: two seconds for each.
        if (line === 'switchyard logs pi') expect(stdout).toMatch(/^(pi-\w+: )?3\.14159265358979323846264338327950288419/);
      }
      const contexts = execFileSync('kubectl', ['config', 'get-contexts', '-o', 'name', '--kubeconfig', run.file('kubeconfig')]);
      expect(String(contexts)).toBe('east\nmanager\nwest\n');
    },
  );

  test.runIf(hasKubectl)(
    'serves the SubmissionQueue of a tenant, and says before the first submission where it may not act for him',
    {
      timeout: RUN_LIMIT_MS,
    },
    async () => {
      const manager = run.file('manager.kubeconfig');
      for (const words of [
        'create serviceaccount switchyard-submitter',
        'create role submit --verb=create,delete --resource=jobs.batch',
        'create rolebinding submit --role=submit --serviceaccount=default:switchyard-submitter',
      ])
        kubectl(manager, ...words.split(' '));
      const queue = (name: string, serviceAccountName: string): object => ({
        apiVersion: 'switchyard.dev/v1alpha1',
        kind: 'SubmissionQueue',
        metadata: { namespace: 'default', name },
        spec: { serviceAccountName, localQueues: ['batch'] },
      });
      for (const each of [queue('tenant', 'switchyard-submitter'), queue('other', 'somebody-else')])
        execFileSync('kubectl', ['--kubeconfig', manager, 'create', '-f', '-'], { input: JSON.stringify(each) });
      kubectl(manager, 'wait', '--for=condition=Ready', 'submissionqueue/tenant', '--timeout=60s');
      kubectl(
        manager,
        'wait',
        '--for=jsonpath={.status.conditions[0].reason}=ImpersonationForbidden',
        'submissionqueue/other',
        '--timeout=60s',
      );

      const redis = /^ +redis +(redis:\S+)$/m.exec(run.output)?.[1] ?? '';
      // Other users of the machine reach the port, and see the arguments of programs.
      const { password, port } = new URL(redis);
      expect(password).not.toBe('');
      expect(execFileSync('ps', ['-eo', 'args'], { encoding: 'utf8' })).not.toContain(password);
      const uninvited = createConnection(Number(port), '127.0.0.1');
      uninvited.write('PING\r\n');
      const [answer] = await once(uninvited, 'data');
      uninvited.destroy();
      expect(String(answer)).toMatch(/^-NOAUTH /);
      const tenant = connect({ redis, prefix: 'switchyard:tenant:default', queue: 'tenant' });
      onTestFinished(() => tenant.close());
      const manifest = {
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: { name: 'of-a-tenant' },
        spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox', command: ['true'] }] } } },
      };
      expect(await tenant.wait(await tenant.submit(manifest), { timeout: 120_000 })).toMatchObject({ name: 'of-a-tenant', succeeded: 1 });
    },
  );

  test('Ctrl-C ends everything', { timeout: RUN_LIMIT_MS }, async () => {
    const pids = Object.values(run.pids());
    run.interrupt();
    expect(await run.exitCode).toBe(130);
    expect(pids.filter(isAlive)).toEqual([]);
  });
});

describe('npm start on a machine that is not as it should be', () => {
  /** Everything printed, which should be one line. */
  const complaint = async (run: LocalRun): Promise<string> => {
    expect(await run.exitCode).toBe(2);
    expect(run.output.trim().split('\n')).toHaveLength(1);
    return run.output;
  };

  test('a port in use is named', async () => {
    await using server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port } = server.address() as AddressInfo;
    await using run = new LocalRun({ args: ['--port-base', String(port)] });
    expect(await complaint(run)).toContain(`port ${port}, which control-plane-manager would listen on, is in use`);
  });

  test('without Redis it says which program is missing', async () => {
    await using run = new LocalRun({ environment: { REDIS_SERVER: '/nonexistent/redis-server' } });
    expect(await run.exitCode).toBe(1);
    expect(run.output.trim().split('\n').at(-1)).toBe('redis cannot be started: there is no program /nonexistent/redis-server (ENOENT)');
  });

  test('a directory that holds something else is left alone', async () => {
    await using run = new LocalRun({ directory: import.meta.dirname, args: ['--dir', import.meta.dirname] });
    expect(await complaint(run)).toContain('it holds files of something else');
  });

  test.skipIf(process.getuid?.() === 0)('an unwritable directory is named', async () => {
    const closed = mkdtempSync(path.join(tmpdir(), 'switchyard-closed-'));
    onTestFinished(() => rmSync(closed, { recursive: true, force: true }));
    chmodSync(closed, 0o500);
    const directory = path.join(closed, 'run');
    await using run = new LocalRun({ directory, args: ['--dir', directory] });
    expect(await complaint(run)).toMatch(/run cannot be used: EACCES/);
  });
});
