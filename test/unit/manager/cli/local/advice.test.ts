import { expect, test } from 'vitest';
import { keepAdvice, type AdviceInput } from '../../../../../manager/cli/local/advice.ts';

const cluster = (name: string, port: number) =>
  ({ name, url: `https://127.0.0.1:${port}`, kubeconfigFile: `/run/${name}.kubeconfig` }) as AdviceInput['manager'];
const advice = (workers: AdviceInput['workers']): string[] =>
  keepAdvice({
    manager: cluster('manager', 1001),
    workers,
    programs: {
      redisUrl: 'redis://127.0.0.1:1009',
      metricsUrls: new Map([['worker-east', 'http://127.0.0.1:1010/metrics']]),
    } as Partial<AdviceInput['programs']> as AdviceInput['programs'],
    directory: '/run',
  });

test('what stays up is told with its address and kubeconfig', () => {
  const lines = advice([cluster('east', 1002), cluster('west', 1003)]);
  expect(lines.filter((line) => line.includes('https://'))).toEqual([
    '  manager  https://127.0.0.1:1001  kubeconfig /run/manager.kubeconfig',
    '  east     https://127.0.0.1:1002  kubeconfig /run/east.kubeconfig',
    '  west     https://127.0.0.1:1003  kubeconfig /run/west.kubeconfig',
  ]);
  for (const line of ['  redis    redis://127.0.0.1:1009', '  worker-east: http://127.0.0.1:1010/metrics', '  logs     /run/*.log'])
    expect(lines).toContain(line);
});

test('every command to try names the kubeconfig it is for: the manager’s, and the first worker’s', () => {
  const commands = (workers: AdviceInput['workers']) => {
    const lines = advice(workers);
    return lines.slice(lines.indexOf('Try:') + 1).flatMap((line) => line.trim().split('; '));
  };
  const kubeconfigs = (lines: readonly string[]) => new Set(lines.map((line) => /^kubectl --kubeconfig (\S+) /.exec(line)?.[1]));
  expect(kubeconfigs(commands([cluster('east', 1002), cluster('west', 1003)]))).toEqual(
    new Set(['/run/manager.kubeconfig', '/run/east.kubeconfig']),
  );
  expect(kubeconfigs(commands([]))).toEqual(new Set(['/run/manager.kubeconfig']));
});
