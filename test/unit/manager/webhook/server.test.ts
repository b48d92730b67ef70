import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { TLSSocket } from 'node:tls';
import 'reflect-metadata'; // The certificate library wants it loaded first.
import { BasicConstraintsExtension, X509CertificateGenerator } from '@peculiar/x509';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createWebhookServer } from '../../../../manager/webhook/server.ts';
import { MANAGER_FIELD_MANAGER } from '../../../../shared/api/names.ts';
import { certificateFromFiles } from '../../../../shared/runtime/serving-certificate.ts';
import { silentLogger, type Logger } from '../../../../shared/runtime/logger.ts';
import { FakeClock } from '../../../support/fake-clock.ts';
import { aHomeJob, anAdmittedJob } from '../../../support/jobs.ts';
import { JOB_KIND } from '../../../../manager/work-kind/job/job-kind.ts';

const MANAGER = 'system:serviceaccount:switchyard:switchyard-manager';
const BY_MANAGER = { userInfo: { username: MANAGER }, options: { fieldManager: MANAGER_FIELD_MANAGER } };
let folder: string;
let clock: FakeClock;
let shared: string[];
let logged: string[];
let server: { readonly url: string; close(): Promise<void> };
const certFile = () => path.join(folder, 'tls.crt');
const keyFile = () => path.join(folder, 'tls.key');

beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'webhook-'));
  clock = new FakeClock();
  shared = [];
  logged = [];
  const log: Logger = { ...silentLogger, error: (message) => logged.push(message) };
  await writePair('first');
  server = await createWebhookServer({
    kind: JOB_KIND,
    certificate: certificateFromFiles({ of: 'webhook', certFile: certFile(), keyFile: keyFile(), clock, log }),
    identities: { managers: [MANAGER], localWorkers: [] },
    onSharedIdentity: (username, fieldManager) => shared.push(`${username} ${fieldManager}`),
    clock,
    log: silentLogger,
  }).listen('127.0.0.1:0');
});
afterEach(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

async function writePair(name: string): Promise<void> {
  const keys = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, ['sign', 'verify']);
  const cert = await X509CertificateGenerator.createSelfSigned({
    name: `CN=${name}`,
    notBefore: new Date(Date.UTC(2020, 0, 1)),
    notAfter: new Date(Date.UTC(2090, 0, 1)),
    keys,
    signingAlgorithm: { name: 'ECDSA', hash: 'SHA-256' },
    extensions: [new BasicConstraintsExtension(true)],
  });
  const pkcs8 = Buffer.from(await crypto.subtle.exportKey('pkcs8', keys.privateKey)).toString('base64');
  writeFileSync(certFile(), cert.toString('pem'));
  writeFileSync(keyFile(), `-----BEGIN PRIVATE KEY-----\n${pkcs8}\n-----END PRIVATE KEY-----\n`);
}

type Answer = { readonly status: number; readonly body: string; readonly certificate: string };
const call = (path_: string, body: unknown, method = 'POST'): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const outgoing = request(`${server.url}${path_}`, { method, rejectUnauthorized: false, agent: false }, (response) => {
      const certificate = String((response.socket as TLSSocket).getPeerCertificate().subject.CN);
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, body: text, certificate }));
    });
    outgoing.on('error', reject);
    outgoing.end(typeof body === 'string' ? body : JSON.stringify(body));
  });
const review = async (path_: string, request_: object): Promise<Record<string, unknown>> => {
  const { status, body } = await call(path_, {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: { uid: 'r1', userInfo: { username: 'jane' }, ...request_ },
  });
  expect(status).toBe(200);
  return (JSON.parse(body) as { response: Record<string, unknown> }).response;
};

test('a new Job with a queue is suspended and given to the manager', async () => {
  const job = aHomeJob({ spec: { suspend: false } });
  delete job.spec.managedBy;
  const { patch, ...response } = await review('/mutate', { operation: 'CREATE', object: job });
  expect(response).toEqual({ uid: 'r1', allowed: true, patchType: 'JSONPatch' });
  expect(JSON.parse(Buffer.from(String(patch), 'base64').toString())).toEqual([
    { op: 'add', path: '/metadata/annotations', value: { 'switchyard.dev/created-by': 'jane' } },
    { op: 'add', path: '/spec/suspend', value: true },
    { op: 'add', path: '/spec/managedBy', value: 'switchyard.dev/manager' },
  ]);
});

test('a Job that needs nothing done, or has no queue, passes without a patch', async () => {
  const ready = aHomeJob({ metadata: { annotations: { 'switchyard.dev/created-by': 'jane' } } });
  expect(await review('/mutate', { operation: 'CREATE', object: ready })).toEqual({ uid: 'r1', allowed: true });
  expect(await review('/mutate', { operation: 'CREATE', object: aHomeJob({ metadata: { labels: {} } }) })).toEqual({
    uid: 'r1',
    allowed: true,
  });
});

test('only the manager may admit', async () => {
  const change = { operation: 'UPDATE', oldObject: aHomeJob(), object: anAdmittedJob() };
  expect(await review('/validate', change)).toMatchObject({ allowed: false, status: { code: 422, reason: 'Invalid' } });
  expect(await review('/validate', { ...change, ...BY_MANAGER })).toEqual({ uid: 'r1', allowed: true });
  expect(shared).toEqual([]);
});

test('somebody else with the manager’s identity is judged as what he is, and told of', async () => {
  const change = { operation: 'UPDATE', oldObject: aHomeJob(), object: anAdmittedJob() };
  const { userInfo } = BY_MANAGER;
  expect(await review('/validate', { ...change, userInfo, options: { fieldManager: 'kubectl-edit' } })).toMatchObject({ allowed: false });
  expect(await review('/validate', { ...change, userInfo })).toMatchObject({ allowed: false });
  expect(shared).toEqual([`${MANAGER} kubectl-edit`, `${MANAGER} `]);
});

test('a canary that the manager submits is judged as anybody’s Job, and is no reason for alarm', async () => {
  const change = { operation: 'UPDATE', oldObject: aHomeJob(), object: anAdmittedJob(), userInfo: BY_MANAGER.userInfo };
  expect(await review('/validate', { ...change, options: { fieldManager: 'switchyard-canary' } })).toMatchObject({ allowed: false });
  expect(shared).toEqual([]);
});

test('a write of the status is judged', async () => {
  const change = { operation: 'UPDATE', subResource: 'status', oldObject: anAdmittedJob(), object: anAdmittedJob() };
  expect(await review('/validate', change)).toMatchObject({ allowed: false });
  expect(await review('/validate', { ...change, ...BY_MANAGER })).toEqual({ uid: 'r1', allowed: true });
});

test('what is no AdmissionReview is answered with what is wrong', async () => {
  expect(await call('/validate', 'hello')).toMatchObject({ status: 400, body: 'the body is not a JSON object\n' });
  expect(await call('/validate', { apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' })).toMatchObject({ status: 400 });
  expect(await call('/validate', '', 'GET')).toMatchObject({ status: 405 });
  expect(await call('/other', {})).toMatchObject({ status: 404 });
});

test('a renewed certificate is served without a restart, and a broken one leaves the old in place', async () => {
  expect((await call('/other', {})).certificate).toBe('first');
  await writePair('second');
  await advanceUntil(async () => (await call('/other', {})).certificate === 'second');
  writeFileSync(keyFile(), 'no key');
  await clock.advance(10_000);
  expect((await call('/other', {})).certificate).toBe('second');
});

test.each([
  ['a key of which nothing is written yet', async () => writeFileSync(keyFile(), '')],
  ['a certificate of which nothing is written yet', async () => writeFileSync(certFile(), '')],
  [
    'the key of another certificate',
    async () => {
      const cert = readFileSync(certFile());
      await writePair('other');
      writeFileSync(certFile(), cert);
    },
  ],
])('%s is not taken: the old pair stays, and the next whole one is shown', async (_half, breakIt) => {
  await breakIt();
  await advanceUntil(() => Promise.resolve(logged.some((line) => line.includes('could not be reloaded'))));
  expect((await call('/other', {})).certificate).toBe('first');
  await writePair('second');
  await advanceUntil(async () => (await call('/other', {})).certificate === 'second');
});

/** Files are read in their own time, which a fake clock does not know. */
async function advanceUntil(holds: () => Promise<boolean>): Promise<void> {
  const advanced = async (): Promise<boolean> => {
    await clock.advance(10_000);
    return holds();
  };
  await expect.poll(advanced).toBe(true);
}
