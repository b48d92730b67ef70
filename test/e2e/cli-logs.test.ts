/**
 * Goal: a person reads logs and exit codes of Jobs while they run and when nothing of them is left, by the program, of containers that
 * are real processes.
 */
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { writeFileSync } from 'node:fs';
import { COMMANDS } from '../../manager/cli/commands.ts';
import { logTailsName } from '../../shared/api/log-tails.ts';
import { CONFIG_MAPS } from '../../shared/api/resources.ts';
import { isFinished } from '../../shared/kube/conditions.ts';
import { HOLD_ANNOTATION, QUEUE_NAME_LABEL } from '../../shared/api/names.ts';
import { NAMESPACE } from '../scenario/whole-world.ts';
import type { Outcome } from '../support/switchyard-process.ts';
import { createCliWorld, type CliWorld } from './cli-world.ts';

const LIMIT_MS = 300_000;
let cli: CliWorld;
let east: string;
let store: string;
beforeAll(async () => {
  cli = await createCliWorld(['east'], { keepsLogs: true });
  east = await cli.listen('east');
  store = path.join(cli.folder, 'history');
}, LIMIT_MS);
afterAll(() => cli.close(), LIMIT_MS);

const job = (name: string, script: string, spec: object = {}, annotations: Readonly<Record<string, string>> = {}): string => {
  const containers = [{ name: 'main', image: 'busybox', command: ['sh', '-c', script], resources: { requests: { cpu: '100m' } } }];
  const where = path.join(cli.folder, `${name}.yaml`);
  const template = { spec: { restartPolicy: 'Never', terminationGracePeriodSeconds: 0, containers } };
  writeFileSync(
    where,
    stringify({
      apiVersion: 'batch/v1',
      kind: 'Job',
      metadata: { name, namespace: NAMESPACE, labels: { [QUEUE_NAME_LABEL]: 'main' }, annotations },
      spec: { backoffLimit: 0, ...spec, template },
    }),
  );
  return where;
};
const run = (script: string, ...flags: readonly string[]): string[] => {
  const where = ['-n', NAMESPACE, '--queue', 'main', '--cluster-kubeconfig', east];
  return ['run', ...where, ...flags, '--image', 'busybox', '--', 'sh', '-c', script];
};
/** A script waits until the test has seen something. */
const until = (what: string): string => `while [ ! -e ${path.join(cli.folder, what)} ]; do sleep 0.05; done`;
const happened = (what: string): void => writeFileSync(path.join(cli.folder, what), '');
async function over({ outcome }: { readonly outcome: Promise<Outcome> }): Promise<Outcome> {
  let isOver = false;
  const end = outcome.finally(() => (isOver = true));
  await cli.until(() => isOver);
  return end;
}
const submit = async (file: string): Promise<void> => {
  const { code, stderr } = await cli.run(['submit', file]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
};
const isOver = async (name: string): Promise<boolean> =>
  isFinished((await cli.world.job(name)).status) && (await cli.world.jobsOn('east')).every(({ metadata }) => metadata.name !== name);

describe('a Job that has failed', { timeout: LIMIT_MS }, () => {
  test('shows the end of its log and its exit code when copy, pods and what carried them are gone', async () => {
    await submit(job('broken', 'echo one; printf "\\033[31mit went wrong\\033[0m\\n" >&2; exit 3'));
    await cli.until(() => isOver('broken'));
    await cli.until(async () => (await cli.world.podsOn('east')).length === 0);
    await cli.until(async () => {
      const { items } = await cli.world.client('east').list(CONFIG_MAPS);
      return items.every(({ metadata }) => !metadata.name.startsWith(logTailsName('')));
    });
    const { code, stdout, stderr } = await cli.run(['logs', 'broken', '-n', NAMESPACE, '--history-store', store]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: 'one\n\\u{1b}[31mit went wrong\\u{1b}[0m\n' });
    expect(stderr).toMatch(/^pod broken-[a-z0-9]{5} on cluster "east" ended with exit code 3: it went wrong\n$/);
    const last = await cli.run(['logs', 'broken', '-n', NAMESPACE, '--history-store', store, '--tail', '1']);
    expect(last.stdout).toBe('\\u{1b}[31mit went wrong\\u{1b}[0m\n');
  });

  test('says without a store what its last pod ended with, and what to do', async () => {
    const { code, stdout, stderr } = await cli.run(['logs', 'broken', '-n', NAMESPACE]);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/exit code 3: it went wrong\nno logs of team\/broken are kept; --history-store says/);
  });

  test('shows `run` what its pod writes, and ends it with its exit code and the last line', async () => {
    const running = cli.startProcess(run(`echo begun; ${until('seen')}; echo no such file; exit 42`));
    await cli.until(() => running.said().stdout === 'begun\n');
    happened('seen');
    const { code, stdout, stderr } = await over(running);
    expect({ code, stdout }).toEqual({ code: 42, stdout: 'begun\nno such file\n' });
    expect(stderr).toMatch(/ failed on east in \d+\.\d s \(queued .*ended with exit code 42: no such file$/m);
  });

  test('that has written twenty megabytes shows the last 64 KiB of them', async () => {
    await submit(
      job('noisy', 'yes 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef | head -c 20000000; echo; echo the last; exit 1'),
    );
    await cli.until(() => isOver('noisy'));
    const { stdout, stderr } = await cli.run(['logs', 'noisy', '-n', NAMESPACE, '--history-store', store]);
    expect(stdout.length).toBeGreaterThan(60_000);
    expect(stdout.length).toBeLessThanOrEqual(65_536);
    expect(stdout.endsWith('\nthe last\n')).toBe(true);
    expect(stderr).toMatch(/exit code 1: the last\n$/);
  });

  test('is in the history, with its pods', async () => {
    const listed = await cli.run(['history', '-n', NAMESPACE, '--history-store', store]);
    expect(listed.stdout).toMatch(/^JOB +OUTCOME/);
    expect(listed.stdout).toMatch(/^broken +Failed +main +east +0 +1/m);
    const { stdout } = await cli.run(['history', 'broken', '-n', NAMESPACE, '--history-store', store, '-o', 'json']);
    expect(JSON.parse(stdout)).toMatchObject({
      items: [
        {
          name: 'broken',
          outcome: 'Failed',
          reason: 'BackoffLimitExceeded',
          clusterQueue: 'main',
          cluster: 'east',
          placements: 1,
          requests: { cpu: '100m', pods: '1' },
          copies: [{ cluster: 'east', pods: [{ phase: 'Failed', container: 'main', exitCode: 3, lastLine: 'it went wrong', tail: true }] }],
        },
      ],
    });
  });
});

describe('a Job that runs', { timeout: LIMIT_MS }, () => {
  test('is followed until its pods have ended, each line with the name of its pod', async () => {
    await submit(
      job('talking', `echo from $JOB_COMPLETION_INDEX; ${until('go-on')}; echo the end`, {
        completions: 2,
        parallelism: 2,
        completionMode: 'Indexed',
      }),
    );
    await cli.until(async () => (await cli.world.job('talking')).status?.ready === 2);
    const following = cli.start(['logs', 'talking', '-n', NAMESPACE, '-f', '--cluster-kubeconfig', east]);
    await cli.until(() => /from 0[^]*from 1|from 1[^]*from 0/.test(following.said().stdout));
    happened('go-on');
    const { code, stdout } = await over(following);
    expect(code).toBe(0);
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.replace(/^(talking-\d)-[a-z0-9]{5}: /, '$1: '));
    expect(lines.toSorted()).toEqual(['talking-0: from 0', 'talking-0: the end', 'talking-1: from 1', 'talking-1: the end']);
  });

  test('of `run` tells programs what became of it, and shows people its log beside that', async () => {
    const running = cli.start(run(`echo two; ${until('both')}`, '-o', 'json', '--pods', '2'));
    await cli.until(() => (running.said().stderr.match(/^run-\w{5}-\w+: two$/gm) ?? []).length === 2);
    happened('both');
    const { code, stdout } = await over(running);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ exitCode: 0, outcome: 'Complete', cluster: 'east' });
  });

  test('of `run` shows what is kept where its cluster cannot be read', async () => {
    const where = ['-n', NAMESPACE, '--history-store', store, '-o', 'json'];
    const { code, stdout, stderr } = await cli.run(['run', ...where, '--image', 'busybox', '--', 'sh', '-c', 'echo kept; exit 7']);
    expect({ code, said: JSON.parse(stdout) }).toEqual({
      code: 7,
      said: expect.objectContaining({ outcome: 'Failed', cluster: 'east', exitCode: 7, reason: 'PodFailurePolicy' }),
    });
    expect(stderr).toMatch(/^no logs are shown: its pods are on cluster east, of which no kubeconfig is at hand .*--cluster-kubeconfig/m);
    expect(stderr).toMatch(/^kept\nteam\/run-\w+ failed on east in /m);
  });

  test('is followed from before its admission, and told to programs line by line', async () => {
    const script = `echo one; ${until('heard')}; printf 'two\\ttabs'`;
    await submit(job('held', script, { suspend: true, completionMode: 'Indexed', completions: 1 }, { [HOLD_ANNOTATION]: 'true' }));
    const following = cli.start(['logs', 'held', '-n', NAMESPACE, '-f', '-o', 'json', '--cluster-kubeconfig', east]);
    await cli.until(() => following.said().stderr.includes('has not been admitted yet'));
    await cli.run(['release', 'held', '-n', NAMESPACE]);
    await cli.until(() => following.said().stdout !== '');
    happened('heard');
    const { code, stdout } = await over(following);
    expect(code).toBe(0);
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as object),
    ).toEqual([
      { pod: expect.stringMatching(/^held-0-/), index: 0, line: 'one' },
      { pod: expect.stringMatching(/^held-0-/), index: 0, line: 'two\ttabs' },
    ]);
  });

  test('tells whoever has no kubeconfig of its cluster what to do', async () => {
    await submit(job('quiet', 'sleep 600'));
    await cli.until(async () => (await cli.world.job('quiet')).status?.ready === 1);
    const { code, stderr } = await cli.run(['logs', 'quiet', '-n', NAMESPACE]);
    expect({ code, stderr }).toEqual({
      code: 3,
      stderr: expect.stringMatching(
        /its pods are on cluster east, of which no kubeconfig is at hand .*; name one with --cluster-kubeconfig or --cluster-context, or have the manager follow them by -f\n$/,
      ),
    });
    await cli.run(['cancel', 'quiet', '-n', NAMESPACE, '--yes']);
  });
});

/** Where a command is shown by another test to print a document that can be read. */
const SHOWN_ELSEWHERE: Readonly<Record<string, string>> = {
  canary: 'cli-canary.test.ts',
  'clusters join': 'cli-clusters.test.ts',
  'clusters leave': 'cli-clusters.test.ts',
  doctor: 'cli-clusters.test.ts',
  local: 'quick-start.test.ts',
  replay: 'decision-log.test.ts',
};

test('every command prints JSON that can be read', { timeout: LIMIT_MS }, async () => {
  await submit(job('document', 'sleep 600'));
  await cli.until(async () => (await cli.world.job('document')).status?.ready === 1);
  const kueue = path.join(cli.folder, 'kueue.yaml');
  writeFileSync(kueue, stringify({ apiVersion: 'kueue.x-k8s.io/v1beta1', kind: 'ResourceFlavor', metadata: { name: 'spot' } }));
  const home = ['--kubeconfig', cli.kubeconfig];
  const team = [...home, '-n', NAMESPACE];
  // In their order: each finds the cluster as the one before has left it.
  const lines: Readonly<Record<string, readonly string[]>> = {
    submit: [job('another', 'true'), ...team, '--wait'],
    run: [...team, '--image', 'busybox', '--', 'true'],
    get: ['jobs', ...team],
    explain: ['document', ...team],
    logs: ['broken', ...team, '--history-store', store],
    history: ['broken', ...team, '--history-store', store],
    'history purge': ['--before', '2000-01-01', '--yes', '--history-store', store],
    report: ['--by', 'user', '--from', '2000-01-01', ...team, '--history-store', store],
    'what-if': [...team, '--quota', 'main:default:cpu=+8'],
    hold: ['document', ...team],
    release: ['document', ...team],
    cancel: ['document', ...team, '--yes'],
    queues: home,
    top: home,
    clusters: home,
    'clusters cordon': ['east', ...home],
    'clusters uncordon': ['east', ...home],
    'clusters drain': ['east', ...home],
    cordon: ['east', ...home],
    drain: ['east', ...home],
    uncordon: ['east', ...home],
    'import kueue': [kueue],
    'kinds test': [path.join(import.meta.dirname, '../../charts/switchyard-manager/files/kinds/jobset.yaml')],
    completion: ['bash'],
  };
  expect([...Object.keys(lines), ...Object.keys(SHOWN_ELSEWHERE)].toSorted()).toEqual(COMMANDS.map(({ words }) => words).toSorted());
  for (const [words, args] of Object.entries(lines)) {
    const [own, ...behind] = args.join('\n').split('\n--\n');
    const { code, stdout } = await cli.run([
      ...words.split(' '),
      ...(own ?? '').split('\n'),
      '-o',
      'json',
      ...(behind.length === 0 ? [] : ['--', ...behind]),
    ]);
    expect(code, words).toBe(0);
    // Logs are an object for each line.
    for (const text of words === 'logs' ? stdout.trimEnd().split('\n') : [stdout])
      expect(JSON.parse(text), words).toEqual(
        words === 'logs' ? expect.objectContaining({ line: expect.any(String) }) : expect.any(Object),
      );
  }
});

test(
  'a Job that never was has no logs',
  async () => {
    const { code, stderr } = await cli.run(['logs', 'never', '-n', NAMESPACE, '--history-store', store]);
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'switchyard logs: there is no Job team/never, and no history of one\n' });
  },
  LIMIT_MS,
);

describe('what is kept', { timeout: LIMIT_MS }, () => {
  const purge = (...flags: readonly string[]) => cli.run(['history', 'purge', '--history-store', store, ...flags]);

  test('is counted, and erased while the manager runs, by whom or where it was', async () => {
    await submit(job('erased', 'echo to be forgotten; exit 1'));
    await cli.until(() => isOver('erased'));
    await cli.run(['cancel', 'erased', '-n', NAMESPACE]);
    const counted = await purge('--namespace', NAMESPACE, '--dry-run', '-o', 'json');
    const found = JSON.parse(counted.stdout) as { jobs: number; logs: number };
    expect(found).toMatchObject({ dryRun: true, jobs: expect.any(Number) as number });
    expect(Math.min(found.jobs, found.logs)).toBeGreaterThanOrEqual(1);
    expect((await purge('--user', 'nobody-here', '--yes')).stdout).toBe(
      'Erased the records of 0 Jobs, what pods of 0 placements ended with, and the ends of 0 logs.\n',
    );
    expect((await purge('--namespace', NAMESPACE, '--before', '2999-01-01', '--yes', '-o', 'json')).stdout).toContain(
      `"jobs": ${found.jobs}`,
    );
    expect((await cli.run(['history', 'erased', '-n', NAMESPACE, '--history-store', store])).stdout).not.toContain('erased');
    expect((await cli.run(['logs', 'erased', '-n', NAMESPACE, '--history-store', store])).code).toBe(1);
  });

  test('is not erased where nothing says what, or nobody says yes', async () => {
    expect(await purge()).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--namespace: nothing says what to erase; write --namespace, --user or --before') as string,
    });
    expect(await purge('--before', 'yesterday')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--before: is no time') as string,
    });
    await submit(job('stays', 'exit 1'));
    await cli.until(async () => (await cli.run(['history', 'stays', '-n', NAMESPACE, '--history-store', store])).stdout.includes('stays'));
    expect(await purge('--namespace', NAMESPACE)).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') as string });
    expect((await cli.run(['history', 'stays', '-n', NAMESPACE, '--history-store', store])).stdout).toContain('stays');
  });
});
