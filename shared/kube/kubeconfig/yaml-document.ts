import { type Document, isNode, isScalar, LineCounter, parseDocument, visit } from 'yaml';
import { KubeconfigError } from './kubeconfig-error.ts';

/**
 * What the YAML of a kubeconfig says, as plain data; undefined where it says nothing. Throws {@link KubeconfigError} for what is not YAML.
 * Nothing of the text is repeated, neither in the error nor on standard error: it may be a token. `origin` is what messages call it.
 */
export function readYamlDocument(text: string, origin: string): unknown {
  const lineCounter = new LineCounter();
  const invalid = (what: string): KubeconfigError => new KubeconfigError(`${origin} is not valid: ${what}`);
  try {
    // Without the pretty messages, which quote the line, and without warnings, which quote keys. The library's own search for keys that
    // stand
    // twice compares each with each: seconds for a text of a hundred kilobytes.
    const document = parseDocument(text, { prettyErrors: false, logLevel: 'error', uniqueKeys: false, lineCounter });
    const [problem] = document.errors;
    const flaw = problem === undefined ? repeatedKey(document) : { code: problem.code, offset: problem.pos[0] };
    if (flaw !== undefined) {
      const { line, col } = lineCounter.linePos(flaw.offset);
      throw invalid(`it is not YAML (${flaw.code} in line ${line}, column ${col})`);
    }
    return document.toJS() ?? undefined;
  } catch (error) {
    if (error instanceof KubeconfigError) throw error;
    if (error instanceof RangeError) throw invalid('it is nested too deeply; write it without so many brackets or levels');
    // Aliases of what is not there, or far too many of them. The cause would quote them.
    throw invalid('its YAML aliases cannot be resolved; write the values out');
  }
}

/** The first key that a mapping has twice. */
function repeatedKey(document: Document): { readonly code: string; readonly offset: number } | undefined {
  let offset: number | undefined;
  visit(document, {
    Map(_key, map) {
      const seen = new Set<unknown>();
      for (const { key } of map.items) {
        const name = isScalar(key) ? key.value : key;
        if (seen.has(name)) {
          offset = isNode(key) ? (key.range?.[0] ?? 0) : 0;
          return visit.BREAK;
        }
        seen.add(name);
      }
      return undefined;
    },
  });
  return offset === undefined ? undefined : { code: 'DUPLICATE_KEY', offset };
}
