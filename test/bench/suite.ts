import { parseFlags, type FlagTable, type FlagValues, type ParsedFlags } from '../../shared/runtime/flags.ts';

/** One thing that `npm run bench` can measure. */
export type Suite = {
  /** Reads the suite's own flags into a measurement that is ready to start. */
  readonly prepare: (
    suite: { readonly name: string; readonly about: string },
    args: readonly string[],
    environment: Readonly<Record<string, string | undefined>>,
  ) => ParsedFlags<Measurement>;
};

/** Measures and prints. False when a figure is outside its permitted range; throws when nothing could be measured. */
export type Measurement = () => Promise<boolean>;

/** `measurementOf` throws FlagError when it is asked for what the suite cannot do. */
export function defineSuite<Table extends FlagTable>(flags: Table, measurementOf: (values: FlagValues<Table>) => Measurement): Suite {
  return {
    prepare: ({ name, about }, args, environment) =>
      parseFlags({ name: 'bench', usage: `npm run bench -- ${name}`, about, flags, configOf: measurementOf }, args, environment),
  };
}
