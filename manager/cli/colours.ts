import { styleText } from 'node:util';
import type { Paint } from './text-table.ts';

type Colour = 'green' | 'red' | 'yellow' | 'cyan';

const WORDS: Readonly<Record<string, Colour>> = {
  Complete: 'green',
  Ready: 'green',
  ok: 'green',
  True: 'green',
  Active: 'green',
  Failed: 'red',
  False: 'red',
  wrong: 'red',
  Lost: 'red',
  NotReady: 'red',
  Waiting: 'yellow',
  Held: 'yellow',
  Unknown: 'yellow',
  Cordoned: 'yellow',
  Draining: 'yellow',
  note: 'yellow',
  Running: 'cyan',
  Dispatching: 'cyan',
};

/** Words that say how something is, in the colour that people expect. Whether there may be colours is for the caller to know. */
export const coloured = (word: string): string => {
  const colour = WORDS[word];
  return colour === undefined ? word : styleText(colour, word, { validateStream: false });
};

/** Of a table: cells in columns that say how something is. */
export const paintFor = ({ colours }: { readonly colours: boolean }): Paint =>
  colours ? (cell, head) => (STATE_HEADS.includes(head) ? coloured(cell) : cell) : (cell) => cell;

const STATE_HEADS = ['STATE', 'READY', 'ACTIVE?', 'RESULT', 'CHECK'];
