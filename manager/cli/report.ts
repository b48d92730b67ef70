import type { Form } from './cluster-flags.ts';
import { asJson, asYaml } from './rendering.ts';
import type { Session } from './session.ts';

/**
 * What came of a command: lines for people, or the same as a document for programs. Lines are shown as they are: make them {@link plain}
 * before.
 */
export const report = (
  { output }: Session,
  form: Form,
  { lines, value }: { readonly lines: readonly string[]; readonly value: unknown },
): Promise<void> =>
  output.write(form === 'json' ? asJson(value) : form === 'yaml' ? asYaml(value) : lines.map((line) => `${line}\n`).join(''));
