/**
 * What stands in an object may come from anybody: text that would move a cursor, colour a line, turn its direction or break it is shown by
 * its number. Letters of all scripts stay.
 */
export const plain = (text: string): string =>
  text.replace(UNSHOWABLE, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);

/** The same for JSON, and for YAML in which every string has double quotes: what is escaped stays what it is. */
export const plainDocument = (document: string): string =>
  document.replace(UNSHOWABLE_IN_DOCUMENTS, (character) =>
    character.length === 1
      ? `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
      : [0, 1].map((index) => `\\u${character.charCodeAt(index).toString(16)}`).join(''),
  );

/** Controls (C0, DEL, C1), formats (directions, joiners that nobody sees), half characters, line and paragraph separators. */
const UNSHOWABLE = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const UNSHOWABLE_IN_DOCUMENTS = /(?!\n)[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
