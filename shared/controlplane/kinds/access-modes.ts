import { forbidden, notSupported, required, type FieldError } from '../apimachinery/field-error.ts';

/** How a volume may be mounted, and how kubectl shortens it, in the order in which it names them. */
const SHORT_NAMES: ReadonlyMap<string, string> = new Map([
  ['ReadWriteOnce', 'RWO'],
  ['ReadOnlyMany', 'ROX'],
  ['ReadWriteMany', 'RWX'],
  ['ReadWriteOncePod', 'RWOP'],
]);
const ACCESS_MODES: readonly string[] = [...SHORT_NAMES.keys()].toSorted();

/** GetAccessModesAsString: `RWO,ROX`. */
export const accessModesText = (modes: readonly string[]): string =>
  [...SHORT_NAMES].flatMap(([mode, short]) => (modes.includes(mode) ? [short] : [])).join(',');

/** The access modes of a volume or a claim, whose spec is at `path`. */
export const validateAccessModes = (modes: readonly string[], path: string, whenNone = ''): FieldError[] => [
  ...(modes.length === 0 ? [required(`${path}.accessModes`, whenNone)] : []),
  ...modes.flatMap((mode) => (ACCESS_MODES.includes(mode) ? [] : [notSupported(`${path}.accessModes`, mode, ACCESS_MODES)])),
  ...(modes.includes('ReadWriteOncePod') && modes.some((mode) => mode !== 'ReadWriteOncePod')
    ? [forbidden(`${path}.accessModes`, 'may not use ReadWriteOncePod with other access modes')]
    : []),
];
