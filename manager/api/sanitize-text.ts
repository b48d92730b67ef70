/** The longest text of another program in a condition, an event or a line of the log. */
export const SANITIZED_LENGTH_MAX = 1024;

/**
 * Text of a worker cluster or another untrusted source, safe to show: on one line, without characters that control terminals or the
 * direction of text, and truncated. The result does not keep a longer original in memory.
 */
export function sanitizeText(text: string, lengthMax = SANITIZED_LENGTH_MAX): string {
  const cut = text.length > lengthMax ? `${text.slice(0, lengthMax - 1)}…` : text;
  // The copy through bytes frees the original: a slice of a string keeps the whole in memory.
  return Buffer.from(cut.replace(UNPRINTABLE, ' ')).toString();
}

// Control characters, and those that change the direction of text, which can make a line read as another.
const UNPRINTABLE = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+/gu;
