import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { startProgram } from './program.ts';
import { prometheusConfig } from './prometheus-config.ts';

export type PrometheusOptions = {
  readonly directory: string;
  readonly port: number;
  readonly metricsUrls: ReadonlyMap<string, string>;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly onRestart: (name: string, how: string) => void;
  readonly cleanUp: (() => Promise<void>)[];
};

const READY_WITHIN_MS = 60_000;

/** A Prometheus that scrapes the programs of the run and judges the alerts. Resolves with its URL. */
export async function startPrometheus({ directory, port, metricsUrls, env, onRestart, cleanUp }: PrometheusOptions): Promise<string> {
  const home = path.join(directory, 'prometheus');
  mkdirSync(home);
  const { config, rules } = prometheusConfig(metricsUrls);
  // JSON is YAML.
  for (const [name, content] of Object.entries({ 'prometheus.json': config, 'rules.json': rules }))
    writeFileSync(path.join(home, name), JSON.stringify(content, null, 2));
  const url = `http://127.0.0.1:${port}`;
  const program = startProgram({
    name: 'prometheus',
    command: [
      env['PROMETHEUS'] ?? 'prometheus',
      `--config.file=${path.join(home, 'prometheus.json')}`,
      `--storage.tsdb.path=${path.join(home, 'data')}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--log.level=warn',
    ],
    env,
    logFile: path.join(directory, 'prometheus.log'),
    isReady: () => answers(`${url}/-/ready`),
    onStart: () => undefined,
    onRestart,
  });
  cleanUp.push(() => program.stop());
  await program.waitUntilReady(READY_WITHIN_MS);
  return url;
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false; // nobody listens there yet
  }
}
