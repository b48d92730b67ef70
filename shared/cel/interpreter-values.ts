/** A duration of the interpreter, which does not export the class. */
export type DurationValue = { readonly seconds: bigint; readonly nanos: number };

const tagOf = (value: unknown): string => Object.prototype.toString.call(value).slice('[object '.length, -1);

export const isDurationValue = (value: unknown): value is DurationValue => tagOf(value) === 'google.protobuf.Duration';
/** Unsigned integers are objects whose tag begins so. */
export const isUnsigned = (value: unknown): value is { valueOf(): bigint } => tagOf(value).startsWith('value = ');
export const isTypeValue = (value: unknown): value is { readonly name: string } => tagOf(value).startsWith('Type<');
