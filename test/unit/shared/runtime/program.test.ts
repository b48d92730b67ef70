import { EventEmitter } from 'node:events';
import { describe, expect, test } from 'vitest';
import { createBackoff } from '../../../../shared/runtime/backoff.ts';
import { createProgramHttp, listen, parseAddress } from '../../../../shared/runtime/http-server.ts';
import type { InvariantReport } from '../../../../shared/runtime/invariant-report.ts';
import { runProgram } from '../../../../shared/runtime/lifecycle.ts';
import { silentLogger } from '../../../../shared/runtime/logger.ts';
import { createLogger } from '../../../../shared/runtime/pino-logger.ts';
import { seededRandom } from '../../../../shared/runtime/random.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

test('log lines are JSON with a constant message, fields, and errors with their causes', () => {
  const lines: string[] = [];
  const log = createLogger('info', { write: (line) => void lines.push(line) }).with({ component: 'worker' });
  log.debug('not shown');
  log.error('sync failed', { key: 'ns/a', error: new Error('outer', { cause: new Error('inner') }) });
  expect(lines).toHaveLength(1);
  const entry: unknown = JSON.parse(lines[0] ?? '');
  expect(entry).toMatchObject({
    level: 'error',
    component: 'worker',
    message: 'sync failed',
    key: 'ns/a',
    error: { message: 'outer', cause: { message: 'inner' } },
  });
  expect(entry).toHaveProperty('error.stack');
});

describe('the HTTP endpoints of a program', () => {
  test('tell metrics, health, and what it is not ready for', async () => {
    let problem: string | undefined = 'not synced';
    let warnings: readonly string[] = [];
    const reports: InvariantReport[] = [];
    const handler = createProgramHttp({
      metrics: { metrics: async () => 'up 1\n', contentType: 'text/plain; version=0.0.4' },
      readiness: { informers: () => problem },
      warnings: () => warnings,
      invariants: () => reports[0],
    });
    const server = await listen(handler, '127.0.0.1:0');
    const get = async (path: string): Promise<string> => {
      const response = await fetch(server.url + path);
      return `${response.status} ${await response.text()}`;
    };
    expect(await get('/metrics')).toBe('200 up 1\n');
    expect(await get('/healthz')).toBe('200 ok');
    expect(await get('/readyz')).toBe('503 informers: not synced\n');
    problem = undefined;
    expect(await get('/readyz')).toBe('200 ok');
    warnings = ['somebody should look'];
    expect(await get('/readyz')).toBe('200 ok\nwarning: somebody should look\n');
    problem = 'not synced';
    expect(await get('/readyz')).toBe('503 informers: not synced\nwarning: somebody should look\n');
    expect(await get('/debug/invariants')).toMatch(/^404 .*ask the leader/);
    reports.push({ violations: { one_copy_runs: 0 }, dumps: [] });
    const withheld = { ...reports[0], dumps: 'in the log, and here with --metrics-authentication' };
    expect(await get('/debug/invariants')).toBe(`200 ${JSON.stringify(withheld, null, 2)}\n`);
    expect(await get('/other')).toMatch(/^404/);
    await server.close();
    await expect(fetch(server.url)).rejects.toThrow();
  });

  test('listen where they are told, and say what an address looks like', () => {
    expect(parseAddress('127.0.0.1:80')).toEqual({ host: '127.0.0.1', port: 80 });
    expect(parseAddress('[::1]:80')).toEqual({ host: '::1', port: 80 });
    expect(parseAddress(':80')).toEqual({ host: '::', port: 80 });
    for (const bad of ['80', 'host', 'host:', 'host:99999', 'a:b:80']) expect(() => parseAddress(bad)).toThrow('write host:port');
  });
});

describe('a program', () => {
  const options = (): { clock: FakeClock; log: typeof silentLogger; process: EventEmitter } => ({
    clock: new FakeClock(),
    log: silentLogger,
    process: new EventEmitter(),
  });
  const untilAborted = (signal: AbortSignal): Promise<void> => new Promise((resolve) => signal.addEventListener('abort', () => resolve()));

  test('asked to stop ends with 0 when its work is put down', async () => {
    const world = options();
    const code = runProgram(world, untilAborted);
    world.process.emit('SIGTERM');
    expect(await code).toBe(0);
    expect(world.clock.pendingTimers()).toBe(0);
    expect(world.process.listenerCount('SIGTERM')).toBe(0);
  });

  test('that does not end in time, or is asked twice, ends with 1', async () => {
    const slow = options();
    const code = runProgram({ ...slow, drainMs: 1000 }, () => new Promise(() => undefined));
    slow.process.emit('SIGTERM');
    await slow.clock.advance(1000);
    expect(await code).toBe(1);

    const twice = options();
    const second = runProgram(twice, () => new Promise(() => undefined));
    twice.process.emit('SIGINT');
    twice.process.emit('SIGINT');
    expect(await second).toBe(1);
  });

  test('that fails ends with 1, and with 0 when the failure is the stop itself', async () => {
    expect(await runProgram(options(), () => Promise.reject(new Error('boom')))).toBe(1);
    const world = options();
    const code = runProgram(world, (signal) => untilAborted(signal).then(() => signal.throwIfAborted()));
    world.process.emit('SIGTERM');
    expect(await code).toBe(0);
  });
});

test('a back-off grows to its limit, stays above its base, and starts small again after a success', () => {
  const backoff = createBackoff({ baseMs: 800, maxMs: 30_000, random: seededRandom(3) });
  const delays = Array.from({ length: 50 }, () => backoff.nextDelayMs());
  expect(Math.min(...delays)).toBeGreaterThanOrEqual(800);
  expect(Math.max(...delays)).toBeLessThanOrEqual(30_000);
  expect(Math.max(...delays)).toBeGreaterThan(20_000);
  backoff.reset();
  expect(backoff.nextDelayMs()).toBeLessThanOrEqual(1600);
});
