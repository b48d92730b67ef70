import { createInterface } from 'node:readline/promises';
import { FlagError } from '../../shared/runtime/flags.ts';
import type { Session } from './session.ts';

/**
 * Whether whoever sits at the terminal says yes; anything else is no. Where nobody sits there it is refused: {@link FlagError} names the
 * flag that says it in advance.
 */
export async function confirmed({ input, errors, signal }: Session, question: string): Promise<boolean> {
  if (input.isTTY !== true || !errors.isTerminal)
    throw new FlagError(`--yes: ${question} Nobody can be asked here; write --yes to say so in advance`);
  const lines = createInterface({ input });
  try {
    await errors.write(`${question} [y/N] `);
    const answer = await lines.question('', { signal });
    return /^y(es)?$/i.test(answer.trim());
  } catch (error) {
    if (signal.aborted) return false;
    throw error;
  } finally {
    lines.close();
  }
}
