const ALPHABET = /[A-Za-z0-9+/]/;

/** Where Go's decoder gives up on a text that is no base64: line feeds count, and a group that ends early is blamed where it began. */
export function corruptAt(text: string): number {
  const significant = [...Buffer.from(text, 'utf8')].flatMap((byte, at) =>
    byte === LINE_FEED || byte === CARRIAGE_RETURN ? [] : [{ byte, at }],
  );
  const end = Buffer.byteLength(text);
  for (let position = 0; position < significant.length; position++) {
    const { byte, at } = significant[position] ?? { byte: 0, at: end };
    if (ALPHABET.test(String.fromCharCode(byte))) continue;
    if (byte !== PADDING || position % GROUP < 2) return at;
    const following = significant[position + 1];
    if (position % GROUP === 3) return following?.at ?? end;
    // Two letters and one sign of padding want another.
    if (following === undefined) return end;
    return following.byte === PADDING ? (significant[position + 2]?.at ?? end) : following.at - 1;
  }
  return end - (significant.length % GROUP);
}

const GROUP = 4;
const LINE_FEED = 10;
const CARRIAGE_RETURN = 13;
const PADDING = 61;
