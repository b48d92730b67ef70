import { LineCounter, parseDocument } from 'yaml';
import { KubeconfigError } from './kubeconfig-error.ts';

/**
 * What the YAML of a kubeconfig says, as plain data; undefined where it says nothing. Throws {@link KubeconfigError} for what is not YAML.
 * Nothing of the text is repeated, neither in the error nor on standard error: it may be a token. `origin` is what messages call it.
 */
export function readYamlDocument(text: string, origin: string): unknown {
  const lineCounter = new LineCounter();
  const invalid = (what: string): KubeconfigError => new KubeconfigError(`${origin} is not valid: ${what}`);
  try {
    // Without the pretty messages, which quote the line, and without warnings, which quote keys.
    const document = parseDocument(text, { prettyErrors: false, logLevel: 'error', lineCounter });
    const [problem] = document.errors;
    if (problem !== undefined) {
      const { line, col } = lineCounter.linePos(problem.pos[0]);
      throw invalid(`it is not YAML (${problem.code} in line ${line}, column ${col})`);
    }
    return document.toJS() ?? undefined;
  } catch (error) {
    if (error instanceof KubeconfigError) throw error;
    if (error instanceof RangeError) throw invalid('it is nested too deeply; write it without so many brackets or levels');
    // Aliases of what is not there, or far too many of them. The cause would quote them.
    throw invalid('its YAML aliases cannot be resolved; write the values out');
  }
}
