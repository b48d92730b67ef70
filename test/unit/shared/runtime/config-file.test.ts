import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { MANAGER_PROGRAM } from '../../../../manager/config/config.ts';
import { readConfigFile, settingsOf } from '../../../../shared/runtime/config-file.ts';
import { parseFlags, type FlagTable } from '../../../../shared/runtime/flags.ts';
import { WORKER_PROGRAM } from '../../../../worker/config.ts';

const inFile = (text: string) => (flags: FlagTable, file: string) => settingsOf(flags, file, text);
const manager = (text: string, args: readonly string[] = [], environment: Record<string, string> = {}) =>
  parseFlags(MANAGER_PROGRAM, ['--config', 'a.yaml', ...args], environment, inFile(text));
const configOf = (...given: Parameters<typeof manager>) => {
  const parsed = manager(...given);
  if (parsed.kind !== 'Run') throw new Error(JSON.stringify(parsed));
  return parsed.config;
};
const problemOf = (text: string): string => {
  const parsed = manager(text);
  return parsed.kind === 'Invalid' ? parsed.problem : parsed.kind;
};

describe('a configuration file', () => {
  test('says by the names of flags in camelCase what flags would say, with lists and maps of YAML', () => {
    const text = `
kubeApiQps: 7.5
leaderElect: true
logLevel: debug
workerLostTimeout: 0
workerAddressDeny: [10.0.0.0/8, "::1/128"]
submissionNamespaces: ["*"]
submissionQueue: ""
admissionFairSharingHalfLife: 168h
admissionFairSharingResourceWeights: {cpu: 1, memory: 1.0e-10}
`;
    expect(configOf(text)).toMatchObject({
      home: { qps: 7.5, burst: 200 },
      leaderElection: { name: 'switchyard-manager' },
      logLevel: 'debug',
      workerLostTimeoutMs: 0,
      workerAddressDeny: ['10.0.0.0/8', '::1/128'],
      submissionNamespaces: '*',
      submissionQueue: '',
      admissionFairSharing: {
        resourceWeights: new Map([
          ['cpu', 1],
          ['memory', 1e-10],
        ]),
      },
    });
  });

  test('counts less than a variable, which counts less than a flag, and more than the default', () => {
    const text = 'kubeApiQps: 1\nkubeApiBurst: 2\nworkerApiQps: 3\n';
    const config = configOf(text, ['--kube-api-qps=9'], { SWITCHYARD_KUBE_API_QPS: '5', SWITCHYARD_KUBE_API_BURST: '6' });
    expect([config.home, config.worker]).toEqual([
      { qps: 9, burst: 6 },
      { qps: 3, burst: 100 },
    ]);
  });

  test('is named by a variable, too, and not at all where the program is not told', () => {
    const environment = { SWITCHYARD_CONFIG: 'a.yaml' };
    const parsed = parseFlags(WORKER_PROGRAM, [], environment, inFile('fenceAfter: 2m'));
    expect(parsed).toMatchObject({ kind: 'Run', config: { fenceAfterMs: 120_000 } });
    expect(parseFlags(WORKER_PROGRAM, [], {}, inFile('fenceAfter: 2m'))).toMatchObject({ config: { fenceAfterMs: 60_000 } });
  });

  test('may be empty', () => {
    expect(configOf('')).toEqual(configOf('# nothing\n'));
  });

  test.each([
    ['kubeApiQpz: 1', 'a.yaml: kubeApiQpz is no key of this file; its keys are the names of flags in camelCase, which --help lists'],
    ['kube-api-qps: 1', 'a.yaml: kube-api-qps is no key of this file; write kubeApiQps'],
    ['kubeAPIqps: 1', 'a.yaml: kubeAPIqps is no key of this file; write kubeApiQps'],
    ['config: b.yaml', 'a.yaml: config is no key of this file; its keys are the names of flags in camelCase, which --help lists'],
    ['constructor: 1', 'a.yaml: constructor is no key of this file; its keys are the names of flags in camelCase, which --help lists'],
    ['kubeApiQps: "1"', 'a.yaml: kubeApiQps: cannot be used; write a number, such as 100, or leave kubeApiQps out'],
    ['kubeApiQps:', 'a.yaml: kubeApiQps: cannot be used; write a number, such as 100, or leave kubeApiQps out'],
    ['kubeApiQps: -1', 'a.yaml: kubeApiQps: "-1" cannot be used; write a number of at least 0'],
    ['leaderElect: "yes"', 'a.yaml: leaderElect: cannot be used; write true or false, such as true, or leave leaderElect out'],
    ['managerId: 5', 'a.yaml: managerId: cannot be used; write a text, in quotes if it looks like something else, or leave managerId out'],
    ['otherManagers: hub', 'a.yaml: otherManagers: cannot be used; write a list, or leave otherManagers out'],
    ['otherManagers: ["a,b"]', 'a.yaml: otherManagers: cannot be used; write a list, or leave otherManagers out'],
    ['logLevel: loud', 'a.yaml: logLevel: "loud" is unknown; choose from debug, info, warn, error'],
    ['redisUrl: http://user:secret@redis', 'a.yaml: redisUrl: is no redis:// or rediss:// URL; write one such as redis://localhost:6379'],
    [
      'fenceRenewInterval: 2m',
      `a.yaml: fenceRenewInterval: "2m" is not between 500ms and 1m; a sixth of the workers' --fence-after is a good choice`,
    ],
    ['- a', 'a.yaml: is no map of settings; write lines such as logLevel: debug'],
    ['apiBindAddress: 127.0.0.1:8443\napiCertFile: a', '--api-cert-file and --api-key-file go together'],
  ])('%j is refused: %s', (text, problem) => {
    expect(problemOf(text)).toBe(problem);
  });

  test.each(['a: [', 'logLevel: info\nlogLevel: debug'])('%j is no YAML', (text) => {
    expect(problemOf(text)).toMatch(/^a\.yaml: is no YAML: .*; write lines such as logLevel: debug$/);
  });

  test('is read from the disk, and missed when it is not there', () => {
    const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-config-'));
    const file = path.join(directory, 'a.yaml');
    try {
      writeFileSync(file, 'logLevel: warn\n');
      expect(parseFlags(WORKER_PROGRAM, [`--config=${file}`], {}, readConfigFile)).toMatchObject({ config: { logLevel: 'warn' } });
    } finally {
      rmSync(directory, { recursive: true });
    }
    expect(parseFlags(WORKER_PROGRAM, [`--config=${file}`], {}, readConfigFile)).toEqual({
      kind: 'Invalid',
      problem: `--config: ${file} cannot be read (ENOENT); name a file that is there and readable`,
    });
  });
});
