import type { JsonLimits } from './answer-limits.ts';
import { UnusableAnswer } from './unusable-answer.ts';

/**
 * Reads a JSON document that may come from an adversary. One look over the text before it is parsed counts values and levels: `{},` takes
 * three bytes of text and sixty of memory, and what is nested ten thousand deep ends whoever walks it.
 */
export function parseBoundedJson(text: string, limits: JsonLimits | undefined): unknown {
  if (limits !== undefined) checkBounds(text, limits);
  try {
    return JSON.parse(text);
  } catch {
    // The parser's message quotes the text.
    throw new UnusableAnswer('NotKubernetes', 'the answer is no JSON');
  }
}

/** Throws when the text has more levels or values than permitted. It may let pass what is no JSON. */
function checkBounds(text: string, { depth: depthMax, values: valuesMax }: JsonLimits): void {
  let depth = 0;
  let values = 1;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === COMMA) values++;
    else if (code === OPEN_BRACKET || code === OPEN_BRACE) {
      values++;
      depth++;
      if (depth > depthMax) throw new UnusableAnswer('AnswerTooLarge', `the answer is nested more than ${depthMax} levels deep`);
    } else if (code === CLOSE_BRACKET || code === CLOSE_BRACE) depth--;
    if (values > valuesMax) throw new UnusableAnswer('AnswerTooLarge', `one document of the answer has more than ${valuesMax} values`);
  }
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const BACKSLASH = 0x5c;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Where the string that begins at `start` has its closing quote: the next one before which there is an even number of backslashes. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let before = end - 1;
    while (text.charCodeAt(before) === BACKSLASH) before--;
    if ((end - before) % 2 === 1) return end;
  }
  return text.length;
}
