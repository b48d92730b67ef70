/**
 * Worker and manager as processes beside an embedded control plane: with --metrics-authentication they show their metrics to those that it
 * lets read them.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { get } from 'node:https';
import path from 'node:path';
import type { TLSSocket } from 'node:tls';
import { afterAll, afterEach, expect, test } from 'vitest';
import { parse } from 'yaml';
import { TestAuthority } from '../support/certificates.ts';
import { ChildProgram } from '../support/child-program.ts';
import { type ServerUnderTest, startServerUnderTest } from '../support/server-under-test.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-metrics-'));
let cluster: ServerUnderTest | undefined;
afterEach(async () => {
  await cluster?.close();
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test('the metrics of both programs ask for a token, their health does not', { timeout: 120_000 }, async () => {
  cluster = await startServerUnderTest();
  const { kubeconfig } = cluster;
  const file = path.join(directory, 'kubeconfig');
  writeFileSync(file, kubeconfig);
  // The administrator may read everything.
  const [{ user }] = (parse(kubeconfig) as { users: [{ user: { token: string } }] }).users;
  for (const main of ['worker/main.ts', 'manager/main.ts']) {
    await using program = new ChildProgram(main, [process.execPath, main, `--kubeconfig=${file}`, '--metrics-authentication']);
    const url = await program.find((line) => /"(?:http|url)":"(http:[^"]+)"/.exec(line)?.[1]);
    const statusOf = async (at: string, token?: string): Promise<number> =>
      (await fetch(url + at, token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } })).status;
    expect([await statusOf('/metrics'), await statusOf('/metrics', 'guessed'), await statusOf('/metrics', user.token)], main).toEqual([
      401, 401, 200,
    ]);
    expect(await statusOf('/healthz'), main).toBe(200);
  }
});

test('both serve them over HTTPS to those who trust the authority, and a renewed certificate without a restart', {
  timeout: 120_000,
}, async () => {
  cluster = await startServerUnderTest();
  const { kubeconfig } = cluster;
  const file = path.join(directory, 'kubeconfig');
  writeFileSync(file, kubeconfig);
  const authority = await TestAuthority.create();
  const [cert, key] = [path.join(directory, 'tls.crt'), path.join(directory, 'tls.key')];
  const put = async (name: string): Promise<void> => {
    const { certPem, keyPem } = await authority.sign(name, ['127.0.0.1']);
    writeFileSync(key, keyPem);
    writeFileSync(cert, certPem);
  };
  for (const main of ['worker/main.ts', 'manager/main.ts']) {
    await put('first');
    const flags = [`--kubeconfig=${file}`, `--metrics-cert-file=${cert}`, `--metrics-key-file=${key}`];
    await using program = new ChildProgram(main, [process.execPath, main, ...flags]);
    const url = await program.find((line) => /"(?:http|url)":"(https:[^"]+)"/.exec(line)?.[1]);
    const scrape = (ca: string): Promise<{ readonly text: string; readonly by: unknown }> =>
      new Promise((resolve, reject) => {
        get(`${url}/metrics`, { ca, agent: false }, (response) => {
          const by = (response.socket as TLSSocket).getPeerCertificate().subject.CN;
          let text = '';
          response.setEncoding('utf8').on('data', (part: string) => (text += part));
          response.on('end', () => resolve({ text, by }));
        }).on('error', reject);
      });
    const { text, by } = await scrape(authority.certPem);
    expect(by, main).toBe('first');
    expect(text, main).toContain(`switchyard_certificate_not_after_seconds{certificate="metrics"} ${Date.UTC(2099, 11, 31) / 1000}\n`);
    await expect(scrape((await TestAuthority.create()).certPem), main).rejects.toThrow(/certificate/);
    await put('second');
    await expect.poll(async () => (await scrape(authority.certPem)).by, { timeout: 30_000, interval: 500 }).toBe('second');
  }
});
