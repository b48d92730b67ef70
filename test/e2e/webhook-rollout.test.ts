/**
 * Replicas of the webhook, each a process, are replaced one after the other while creates come in: SIGTERM at once, and the API server
 * hears later that a replica ends. Its client is that of Go. Few creates usually; with SWITCHYARD_SLOW=1, 20,000 at 50 a second and the
 * manager's default delay.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { systemClock } from '../../shared/runtime/clock.ts';
import { TestAuthority } from '../support/certificates.ts';
import { createGoLikeClient, type GoLikeClient } from '../support/go-like-client.ts';
import { aHomeJob } from '../support/jobs.ts';
import { isSlow } from '../support/slow.ts';

const REVIEW = JSON.stringify({
  apiVersion: 'admission.k8s.io/v1',
  kind: 'AdmissionReview',
  request: { uid: 'r', operation: 'CREATE', userInfo: { username: 'jane' }, object: aHomeJob() },
});
const COURSE = isSlow
  ? { creates: 20_000, everyMs: 20, lagMs: 3_000, delayMs: 10_000 }
  : { creates: 600, everyMs: 5, lagMs: 100, delayMs: 400 };

type Replica = { readonly program: ChildProcess; readonly port: number };

let folder: string;
let files: string[];
let endpoints: Replica[];
let programs: ChildProcess[];
let client: GoLikeClient;
beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'webhook-rollout-'));
  const { certPem, keyPem } = await (await TestAuthority.create()).sign('webhook', ['127.0.0.1']);
  files = ['tls.crt', 'tls.key'].map((file) => path.join(folder, file));
  for (const [index, pem] of [certPem, keyPem].entries()) writeFileSync(files[index] ?? '', pem);
  programs = [];
  endpoints = [await start(), await start()];
  let turn = 0;
  client = createGoLikeClient(() => endpoints[turn++ % endpoints.length]?.port ?? 0, systemClock);
});
afterEach(async () => {
  client.close();
  for (const program of programs) program.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

async function start(): Promise<Replica> {
  const program = fork(path.join(import.meta.dirname, '..', 'support', 'webhook-replica.ts'), [...files, String(COURSE.delayMs)]);
  programs.push(program);
  const [{ url }] = (await once(program, 'message')) as [{ url: string }];
  return { program, port: Number(new URL(url).port) };
}

/** As a Deployment does with a surge of one: the new one is an endpoint before the old one is asked to end. */
async function replaceOldest(): Promise<number> {
  const next = await start();
  const [oldest, ...others] = endpoints;
  endpoints = [...endpoints, next];
  if (oldest === undefined) throw new Error('there is no replica');
  const ended = once(oldest.program, 'exit') as Promise<[number]>;
  oldest.program.kill('SIGTERM');
  await sleep(COURSE.lagMs);
  endpoints = [...others, next];
  return (await ended)[0];
}

test(
  'no create is lost while replicas are replaced',
  async () => {
    const lost: string[] = [];
    const exits: number[] = [];
    let isOver = false;
    const rolling = (async () => {
      while (!isOver) exits.push(await replaceOldest());
    })();
    const creates: Promise<void>[] = [];
    const startedMs = performance.now();
    // A loaded machine starts replicas slowly: creates go on until two were replaced.
    for (let count = 0; count < COURSE.creates || exits.length < 2; count++) {
      creates.push(
        client.post('/mutate?timeout=5s', REVIEW).then(
          (status) => void (status === 200 || lost.push(`answered ${status}`)),
          (error: unknown) => void lost.push(String(error)),
        ),
      );
      await sleep(Math.max(0, startedMs + (count + 1) * COURSE.everyMs - performance.now()));
    }
    await Promise.all(creates);
    isOver = true;
    await rolling;
    expect(lost).toEqual([]);
    expect(new Set(exits)).toEqual(new Set([0]));
  },
  COURSE.creates * COURSE.everyMs + 120_000,
);
