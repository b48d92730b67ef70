/** Longest text of another program in a condition, an event or a line of the log. */
export const SANITIZED_LENGTH_MAX = 1024;

/**
 * Text of a worker cluster, or of whoever else, as it may be shown: of one line, without characters that steer terminals or turn text around, cut where it is too
 * long. The result holds nothing of a longer original in memory.
 */
export function sanitizeText(text: string, lengthMax = SANITIZED_LENGTH_MAX): string {
  const cut = text.length > lengthMax ? `${text.slice(0, lengthMax - 1)}…` : text;
  // By way of bytes, because a slice of a string keeps the whole.
  return Buffer.from(cut.replace(UNPRINTABLE, ' ')).toString();
}

// Control characters, and those that change the direction of text: they can make a line read as another.
const UNPRINTABLE = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]+/gu;
