/**
 * Why an answer was not taken. `AnswerTooLarge`: it has more bytes, values or levels than we read. `AnswerTooSlow`: it did not end in time.
 * `NotKubernetes`: no API server answers like this. `TooManyObjects`: there is no room for all that it lists.
 */
export type AnswerFault = (typeof ANSWER_FAULTS)[number];
export const ANSWER_FAULTS = ['AnswerTooLarge', 'AnswerTooSlow', 'NotKubernetes', 'TooManyObjects'] as const;

/** The server answered, and we stopped listening. The message says what was expected, and nothing of the answer. */
export class UnusableAnswer extends Error {
  override readonly name = 'UnusableAnswer';
  readonly fault: AnswerFault;

  constructor(fault: AnswerFault, message: string) {
    super(message);
    this.fault = fault;
  }
}
