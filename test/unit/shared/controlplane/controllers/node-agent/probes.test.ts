import { expect, test } from 'vitest';
import { isAsked, watchProbe, type ProbeOutcome } from '../../../../../../shared/controlplane/controllers/node-agent/probes.ts';
import { FakeClock } from '../../../../../support/fake-clock.ts';

const PROBE = { tcpSocket: { port: 80 }, periodSeconds: 10, failureThreshold: 3 };

/** The answers one after the other, the last one for ever: true is a success. */
function watch(kind: 'startup' | 'liveness', answers: readonly boolean[], probe = PROBE) {
  const clock = new FakeClock();
  const over = new AbortController();
  const seen: { asked: number; outcome: ProbeOutcome | undefined } = { asked: 0, outcome: undefined };
  const ask = async (): Promise<string | undefined> => {
    const isContent = answers[Math.min(seen.asked++, answers.length - 1)];
    return isContent === true ? undefined : 'refused';
  };
  void watchProbe(probe, kind, ask, clock, over.signal).then((outcome) => (seen.outcome = outcome));
  return { clock, over, seen };
}

test('a liveness probe has failed when it failed so often in a row, and not otherwise', async () => {
  const { clock, seen } = watch('liveness', [true, false, false, true, false, false, false]);
  await clock.advance(59_999);
  expect(seen).toEqual({ asked: 6, outcome: undefined });
  await clock.advance(1);
  expect(seen).toEqual({ asked: 7, outcome: { kind: 'Failed', problem: 'refused' } });
});

test('a startup probe is asked until it succeeds, and then no more', async () => {
  const { clock, seen } = watch('startup', [false, false, true]);
  await clock.advance(60_000);
  expect(seen).toEqual({ asked: 3, outcome: { kind: 'Succeeded' } });
});

test('a probe waits for its initial delay, and ends with its container', async () => {
  const { clock, over, seen } = watch('liveness', [true], { ...PROBE, initialDelaySeconds: 5 } as typeof PROBE);
  await clock.advance(4_999);
  expect(seen.asked).toBe(0);
  await clock.advance(1);
  expect(seen.asked).toBe(1);
  over.abort(new Error('the container has ended'));
  await clock.advance(60_000);
  expect(seen).toEqual({ asked: 1, outcome: { kind: 'Over' } });
});

test('what is asked over the network is asked; commands are not', () => {
  expect([isAsked(undefined), isAsked({ exec: { command: ['true'] } }), isAsked(PROBE), isAsked({ httpGet: { port: 80 } })]).toEqual([
    false,
    false,
    true,
    true,
  ]);
});
