import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { kubeconfigFor } from '../../../../shared/controlplane/server/kubeconfig-file.ts';
import { KubeconfigError } from '../../../../shared/kube/kubeconfig/kubeconfig-error.ts';
import { programAccess } from '../../../../shared/kube/program-access.ts';
import { FlagError } from '../../../../shared/runtime/flags.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

test('the flag goes before the environment, and a file or context that cannot be used is an error of the flag', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-access-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = (name: string): string => {
    const at = path.join(directory, name);
    writeFileSync(at, kubeconfigFor({ url: `https://${name}.test` }, 'token'));
    return at;
  };
  const [named, usual] = [file('named'), file('usual')];
  const environment = { KUBECONFIG: usual, HOME: directory };
  const access = (kubeconfig?: string, context?: string) => programAccess({ kubeconfig, context }, environment, new FakeClock());
  expect([access(named).server, access().server].map(String)).toEqual(['https://named.test', 'https://usual.test']);
  expect(() => access(path.join(directory, 'absent'))).toThrow(FlagError);
  expect(() => access(named, 'nosuch')).toThrow(/^--kubeconfig: .*nosuch/);
  expect(() => programAccess({ kubeconfig: undefined }, { HOME: directory }, new FakeClock())).toThrow(KubeconfigError);
});
