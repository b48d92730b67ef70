/** Worker and manager as processes beside an embedded control plane: with --metrics-authentication they show their metrics to those that it lets read them. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { parse } from 'yaml';
import { systemClock } from '../../shared/runtime/clock.ts';
import { ChildProgram } from '../support/child-program.ts';
import { type EmbeddedCluster, startCluster } from '../support/embedded-cluster.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'switchyard-metrics-'));
let cluster: EmbeddedCluster | undefined;
afterEach(async () => {
  await cluster?.plane.close();
  rmSync(directory, { recursive: true, force: true });
});

test('the metrics of both programs ask for a token, their health does not', { timeout: 120_000 }, async () => {
  cluster = await startCluster(systemClock);
  const { kubeconfig } = await cluster.plane.listen();
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
