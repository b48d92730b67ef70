import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { accessFromKubeconfig } from '../../../shared/kube/kubeconfig.ts';
import { systemClock } from '../../../shared/runtime/clock.ts';
import { startRealControlPlane } from '../../support/real-control-plane.ts';

let assets: string;
beforeEach(() => {
  assets = mkdtempSync(path.join(tmpdir(), 'assets-'));
});
afterEach(() => rmSync(assets, { recursive: true, force: true }));

/** Stands in for a binary: answers 200 on the port of this flag, over TLS when it is told where its certificate is. */
function writeBinary(name: string, portPattern: string): void {
  const file = path.join(assets, name);
  writeFileSync(
    file,
    `#!${process.execPath}
const { readFileSync, writeFileSync } = require('node:fs');
const args = process.argv.slice(2);
writeFileSync(${JSON.stringify(path.join(assets, name))} + '.args', JSON.stringify(args));
const flag = (start) => args.find((arg) => arg.startsWith(start))?.slice(start.length);
const port = Number(/${portPattern}/.exec(args.join(' '))[1]);
const answer = (request, response) => response.end('ok');
const cert = flag('--tls-cert-file=');
const server = cert
  ? require('node:https').createServer({ cert: readFileSync(cert), key: readFileSync(flag('--tls-private-key-file=')) }, answer)
  : require('node:http').createServer(answer);
server.listen(port, '127.0.0.1');
process.on('SIGTERM', () => process.exit(0));
`,
  );
  chmodSync(file, 0o755);
}

test('both programs are started with matching ports and secrets, and the kubeconfig names the server', async () => {
  writeBinary('etcd', '--listen-client-urls=http:\\/\\/127\\.0\\.0\\.1:(\\d+)');
  writeBinary('kube-apiserver', '--secure-port=(\\d+)');
  const plane = await startRealControlPlane({ assets });
  const argsOf = (name: string): string[] => JSON.parse(readFileSync(path.join(assets, `${name}.args`), 'utf8')) as string[];
  const apiServer = argsOf('kube-apiserver');
  const flag = (name: string): string => apiServer.find((arg) => arg.startsWith(`--${name}=`))?.slice(name.length + 3) ?? '';
  const access = accessFromKubeconfig({ kind: 'file', path: plane.kubeconfigFile }, systemClock);
  expect(access.server).toBe(`https://127.0.0.1:${flag('secure-port')}`);
  expect(argsOf('etcd')).toContain(`--listen-client-urls=${flag('etcd-servers')}`);
  const token = readFileSync(flag('token-auth-file'), 'utf8').split(',')[0];
  expect((await access.credentials()).headers).toEqual({ authorization: `Bearer ${token}` });
  expect(readFileSync(flag('service-account-signing-key-file'), 'utf8')).toContain('PRIVATE KEY');
  await plane.stop();
  expect(existsSync(plane.kubeconfigFile)).toBe(false);
});

test('a program that ends at once is reported with what it said', async () => {
  const file = path.join(assets, 'etcd');
  writeFileSync(file, '#!/bin/sh\necho no space left on device >&2\nexit 3\n');
  chmodSync(file, 0o755);
  await expect(startRealControlPlane({ assets })).rejects.toThrow(/etcd has ended \(3\):\nno space left on device/);
});

test('a directory without binaries is reported', async () => {
  await expect(startRealControlPlane({ assets })).rejects.toThrow(/etcd has ended.*\n.*ENOENT/);
});

test('without a directory there is nothing to start', async () => {
  await expect(startRealControlPlane({ assets: '' })).rejects.toThrow('KUBEBUILDER_ASSETS');
});
