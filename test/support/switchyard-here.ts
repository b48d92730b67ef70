/**
 * The program `switchyard` in this process: as good where the process itself (its signals, its terminal, its standard input) is not what is
 * looked at, and much sooner done.
 */
import { Readable } from 'node:stream';
import { runSwitchyard } from '../../manager/cli/switchyard.ts';
import type { Outcome, RunningSwitchyard, SwitchyardOptions } from './switchyard-process.ts';

type OptionsHere = Omit<SwitchyardOptions, 'input'>;

export function startSwitchyardHere(
  args: readonly string[],
  { kubeconfig, environment = {} }: OptionsHere = {},
): Omit<RunningSwitchyard, 'child'> {
  const output = { stdout: '', stderr: '' };
  const to = (stream: 'stdout' | 'stderr') => ({
    isTerminal: false,
    width: Number.POSITIVE_INFINITY,
    colours: false,
    write: async (text: string) => void (output[stream] += text),
  });
  const exit = runSwitchyard(args, 'switchyard', {
    output: to('stdout'),
    errors: to('stderr'),
    input: Readable.from([]),
    environment: { ...(kubeconfig !== undefined && { SWITCHYARD_KUBECONFIG: kubeconfig }), ...environment },
    signal: new AbortController().signal,
    now: Date.now,
  });
  return { outcome: exit.then((code) => ({ code, ...output })), said: () => ({ ...output }) };
}

export const switchyardHere = (args: readonly string[], options?: OptionsHere): Promise<Outcome> =>
  startSwitchyardHere(args, options).outcome;
