/** Plugins as programs of their own: shell scripts that tell how often they ran and what they were told. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import type { ClusterAccess } from '../../../../../shared/kube/cluster-access.ts';
import { accessFromKubeconfig } from '../../../../../shared/kube/kubeconfig.ts';
import { ExecPlugin } from '../../../../../shared/kube/kubeconfig/exec-plugin.ts';
import { FakeClock } from '../../../../support/fake-clock.ts';
import { aDirectory, aKubeconfig } from './a-kubeconfig.ts';

const V1 = 'client.authentication.k8s.io/v1';

/** A plugin that prints this status, in which $RUN is how many times it has run. */
const printing = (status: object, apiVersion = V1): string => `#!/bin/sh
echo run >> "$0.runs"
RUN=$(wc -l < "$0.runs" | tr -d ' ')
printenv KUBERNETES_EXEC_INFO > "$0.info"
cat <<END
${JSON.stringify({ apiVersion, kind: 'ExecCredential', status })}
END
`;

type Given = { readonly access: ClusterAccess; readonly clock: FakeClock; readonly runs: () => number; readonly info: () => unknown };

function given(script: string, exec: object = {}, cluster: object = {}): Given {
  const directory = aDirectory({
    plugin: script,
    config: aKubeconfig({ exec: { apiVersion: V1, command: './plugin', ...exec } }, cluster),
  });
  const clock = new FakeClock();
  const read = (name: string): string => readFileSync(path.join(directory, name), 'utf8');
  return {
    access: accessFromKubeconfig({ kind: 'file', path: path.join(directory, 'config') }, clock),
    clock,
    runs: () => read('plugin.runs').trim().split('\n').length,
    info: () => JSON.parse(read('plugin.info')) as unknown,
  };
}
const authorization = async (access: ClusterAccess) => (await access.credentials()).headers['authorization'];

test('an answer without an expiry is kept, however long, and a refusal has the plugin run again', async () => {
  const { access, clock, runs } = given(printing({ token: 'token-$RUN' }));
  const first = await access.credentials();
  expect(first.headers).toEqual({ authorization: 'Bearer token-1' });
  await clock.advance(3_600_000);
  expect(await authorization(access)).toBe('Bearer token-1');
  access.invalidate(await access.credentials());
  expect(await authorization(access)).toBe('Bearer token-2');
  expect(runs()).toBe(2);
});

test('a plugin whose every answer is refused does not run once per request', async () => {
  const { access, clock, runs } = given(printing({ token: 'token-$RUN' }));
  for (let request = 0; request < 20; request++) {
    access.invalidate(await access.credentials());
    await clock.advance(100);
  }
  expect(runs()).toBe(2);
  await clock.advance(10_000);
  expect(await authorization(access)).toBe('Bearer token-3');
});

test('an answer with an expiry is used until that moment and no longer', async () => {
  const expirationTimestamp = new Date(new FakeClock().now() + 25_000).toISOString();
  const { access, clock, runs } = given(printing({ token: 'token-$RUN', expirationTimestamp }));
  expect(await authorization(access)).toBe('Bearer token-1');
  await clock.advance(24_999);
  expect(await authorization(access)).toBe('Bearer token-1');
  expect(runs()).toBe(1);
  await clock.advance(1);
  expect(await authorization(access)).toBe('Bearer token-2');
});

test('an expiry between two readings counts', async () => {
  const expirationTimestamp = new Date(new FakeClock().now() + 3_000).toISOString();
  const { access, clock } = given(printing({ token: 'token-$RUN', expirationTimestamp }));
  expect(await authorization(access)).toBe('Bearer token-1');
  await clock.advance(3_000);
  expect(await authorization(access)).toBe('Bearer token-2');
});

test('many requests at once share one run', async () => {
  const { access, runs } = given(printing({ token: 'token-$RUN' }));
  expect(new Set(await Promise.all(Array.from({ length: 20 }, () => authorization(access))))).toEqual(new Set(['Bearer token-1']));
  expect(runs()).toBe(1);
});

test('a client certificate from a plugin is used, with or without a token', async () => {
  const { access } = given(printing({ clientCertificateData: 'CERT', clientKeyData: 'KEY' }));
  expect(await access.credentials()).toEqual({ headers: {}, tls: { cert: 'CERT', key: 'KEY' } });
});

test('arguments, variables and what is asked for of the cluster reach the plugin; its own environment stays', async () => {
  const script = `${printing({ token: 'x' }).split('cat <<END')[0]}
printf '{"apiVersion":"${V1}","kind":"ExecCredential","status":{"token":"%s %s %s %s"}}' "$1" "$2" "$SWITCHYARD_TEST" "\${PATH:+has a path}"
`;
  const authority = Buffer.from('authority').toString('base64');
  const { access, info } = given(
    script,
    { args: ['get', 'a b'], env: [{ name: 'SWITCHYARD_TEST', value: 'v' }], provideClusterInfo: true },
    { 'certificate-authority-data': authority, 'tls-server-name': 'other.test' },
  );
  expect(await authorization(access)).toBe('Bearer get a b v has a path');
  expect(info()).toEqual({
    apiVersion: V1,
    kind: 'ExecCredential',
    spec: {
      interactive: false,
      cluster: { server: 'https://k.test:6443', 'certificate-authority-data': authority, 'tls-server-name': 'other.test' },
    },
  });
});

test('version v1beta1 is spoken, too, and the cluster is not told unless asked for', async () => {
  const apiVersion = 'client.authentication.k8s.io/v1beta1';
  const { access, info } = given(printing({ token: 'x' }, apiVersion), { apiVersion });
  expect(await authorization(access)).toBe('Bearer x');
  expect(info()).toEqual({ apiVersion, kind: 'ExecCredential', spec: { interactive: false } });
});

test('a plugin that fails is reported with user, exit code, complaint and the hint of the kubeconfig, and is tried again', async () => {
  const script = '#!/bin/sh\nif [ -e "$0.once" ]; then exec "$0.good"; fi\ntouch "$0.once"\necho "token expired, log in" >&2\nexit 3\n';
  const directory = aDirectory({
    plugin: script,
    'plugin.good': printing({ token: 'x' }),
    config: aKubeconfig({ exec: { apiVersion: V1, command: './plugin', installHint: 'See https://example.test/plugin' } }),
  });
  const access = accessFromKubeconfig({ kind: 'file', path: `${directory}/config` }, new FakeClock());
  await expect(access.credentials()).rejects.toMatchObject({
    name: 'KubeconfigError',
    message: `user "u" (the kubeconfig ${directory}/config): the exec plugin "${directory}/./plugin" ended with exit code 3: token expired, log in
See https://example.test/plugin`,
  });
  expect(await authorization(access)).toBe('Bearer x');
});

test('a plugin that is not installed is reported with what to do', async () => {
  const exec = { apiVersion: V1, command: 'switchyard-no-such-plugin', installHint: 'Install it from https://example.test' };
  const access = accessFromKubeconfig({ kind: 'text', yaml: aKubeconfig({ exec }) }, new FakeClock());
  await expect(access.credentials()).rejects.toThrow(
    `user "u" (the kubeconfig): the exec plugin "switchyard-no-such-plugin" was not found; install it, or write its path into exec.command
Install it from https://example.test`,
  );
});

test('a plugin that may not be run is reported so', async () => {
  const exec = { apiVersion: V1, command: aDirectory() };
  const access = accessFromKubeconfig({ kind: 'text', yaml: aKubeconfig({ exec }) }, new FakeClock());
  await expect(access.credentials()).rejects.toThrow(/cannot be started \(spawn .* EACCES\); look at its path and permissions$/);
});

test('a plugin that does not answer is ended after a minute, what it has started notwithstanding', async () => {
  const directory = aDirectory({ plugin: '#!/bin/sh\ntouch "$0.started"\nsleep 600 &\nwait\n' });
  const clock = new FakeClock();
  const plugin = {
    apiVersion: V1,
    command: `${directory}/plugin`,
    args: [],
    env: [],
    installHint: undefined,
    provideClusterInfo: false,
  } as const;
  const exec = new ExecPlugin({ ...plugin, interactiveMode: 'Never' }, 'U', { clock, environment: process.env, interactive: false });
  const answer = exec.credential(CLUSTER).catch((error: unknown) => error);
  await vi.waitFor(() => readFileSync(`${directory}/plugin.started`), { timeout: 30_000 });
  await clock.advance(60_000);
  expect(await answer).toMatchObject({ message: `U: the exec plugin "${directory}/plugin" did not answer within 60 s` });
  expect(clock.pendingTimers()).toBe(0);
}, 60_000);

test('a plugin that must ask somebody is refused where nobody sits at a terminal', () => {
  const plugin = { apiVersion: V1, command: 'plugin', args: [], env: [], installHint: undefined, provideClusterInfo: false } as const;
  const deps = { clock: new FakeClock(), environment: {}, interactive: false };
  expect(() => new ExecPlugin({ ...plugin, interactiveMode: 'Always' }, 'U', deps)).toThrow(
    'U: the exec plugin "plugin" wants to ask somebody (interactiveMode Always), but standard input is no terminal',
  );
});

test('a plugin is told whether somebody sits at a terminal, unless it wants to ask nobody', async () => {
  const directory = aDirectory({ plugin: printing({ token: 'x' }) });
  const plugin = {
    apiVersion: V1,
    command: `${directory}/plugin`,
    args: [],
    env: [],
    installHint: undefined,
    provideClusterInfo: false,
  } as const;
  const told = async (interactiveMode: 'Never' | 'IfAvailable' | 'Always'): Promise<unknown> => {
    const deps = { clock: new FakeClock(), environment: process.env, interactive: true };
    await new ExecPlugin({ ...plugin, interactiveMode }, 'U', deps).credential(CLUSTER);
    return (JSON.parse(readFileSync(`${directory}/plugin.info`, 'utf8')) as { spec: unknown }).spec;
  };
  expect(await told('IfAvailable')).toEqual({ interactive: true });
  expect(await told('Always')).toEqual({ interactive: true });
  expect(await told('Never')).toEqual({ interactive: false });
});

const CLUSTER = {
  server: 'https://k.test',
  caPem: undefined,
  skipTlsVerify: false,
  tlsServerName: undefined,
  proxyUrl: undefined,
  execConfig: undefined,
};
