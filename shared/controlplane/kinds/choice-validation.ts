import { notSupported, required, type FieldError } from '../apimachinery/field-error.ts';

/** A string that must be one of a few; '' means that it is missing. Upstream lists the choices in their order of declaration. */
export const validateChoice = (value: string, path: string, choices: readonly string[]): FieldError[] => {
  if (value === '') return [required(path)];
  return choices.includes(value) ? [] : [notSupported(path, value, choices)];
};

/** The same where the string may be missing. */
export const validateOptionalChoice = (value: string | undefined, path: string, choices: readonly string[]): FieldError[] =>
  value === undefined || choices.includes(value) ? [] : [notSupported(path, value, choices)];

/** One complaint for every problem that a format finds. */
export const validateFormat = (value: string, path: string, problemsOf: (value: string) => string[]): FieldError[] =>
  problemsOf(value).map((problem) => ({
    type: 'FieldValueInvalid',
    field: path,
    body: `Invalid value: ${JSON.stringify(value)}: ${problem}`,
  }));
