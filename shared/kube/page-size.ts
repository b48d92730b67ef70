import type { AnswerFault } from './unusable-answer.ts';

/** How many objects to ask for at once: fewer when they were too many to read, and more again when they were not. */
export interface PageSize {
  current(): number;
  /** The last page could be read. */
  fitted(): void;
  /** It could not. True when there is a smaller size to try at once. */
  tooMuch(fault: AnswerFault): boolean;
}

/** client-go's size of a page, and those that come after it. */
const SIZES = [500, 100, 20, 4, 1] as const;
/** A size that was too large is not tried again sooner: each time costs a page that is thrown away. */
const FITTED_UNTIL_MORE = 10;

export function createPageSize(): PageSize {
  let index = 0;
  let fitted = 0;
  return {
    current: () => SIZES[index] ?? 1,
    fitted() {
      fitted++;
      if (fitted < FITTED_UNTIL_MORE || index === 0) return;
      index--;
      fitted = 0;
    },
    tooMuch(fault) {
      fitted = 0;
      const smaller = index < SIZES.length - 1 && (fault === 'AnswerTooLarge' || fault === 'AnswerTooSlow');
      if (smaller) index++;
      // A slow server has had its time: it is asked for less when it is asked again.
      return smaller && fault === 'AnswerTooLarge';
    },
  };
}
