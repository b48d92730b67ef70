import { compareQuantities, formatQuantity, parseQuantity, type Quantity, toMilliUnits, toUnits } from '../../kube/quantity.ts';
import { duplicate, type FieldError, forbidden, invalid, required } from '../apimachinery/field-error.ts';
import { qualifiedNameProblems } from '../../kube/name-formats.ts';
import { validateFormat } from './choice-validation.ts';
import { mayBeOvercommitted, validateContainerResourceName, validateResourceName } from './resource-names.ts';

type Written = Record<string, string>;
export type DecodedLimit = {
  type?: string;
  max?: Written;
  min?: Written;
  default?: Written;
  defaultRequest?: Written;
  maxLimitRequestRatio?: Written;
};

/** ValidateLimitRange, of the limits: names that exist, and amounts that do not contradict one another. */
export const validateLimits = (limits: readonly DecodedLimit[], path: string): FieldError[] =>
  limits.flatMap((limit, i) => {
    const at = `${path}[${i}]`;
    const repeated = limits.findIndex(({ type }) => type === limit.type) < i;
    return [
      ...validateType(limit.type ?? '', `${at}.type`),
      ...(repeated ? [duplicate(`${at}.type`, limit.type)] : []),
      ...validateNames(limit, at),
      ...amountsOf(limit).flatMap(([name, amounts]) => validateAmounts(name, amounts, at)),
    ];
  });

const TYPES = ['Pod', 'Container', 'PersistentVolumeClaim'];

const validateType = (type: string, path: string): FieldError[] => {
  const errors = validateFormat(type, path, qualifiedNameProblems);
  if (errors.length > 0 || type.includes('/') || TYPES.includes(type)) return errors;
  return [invalid(path, type, 'must be a standard limit type or fully qualified')];
};

type List = 'max' | 'min' | 'default' | 'defaultRequest' | 'maxLimitRequestRatio';

const validateNames = (limit: DecodedLimit, path: string): FieldError[] => {
  const rule = limit.type === 'Pod' || limit.type === 'Container' ? validateContainerResourceName : validateResourceName;
  const namesIn = (list: List): FieldError[] => Object.keys(limit[list] ?? {}).flatMap((name) => rule(name, `${path}.${list}[${name}]`));
  const isWithoutStorage = limit.min?.['storage'] === undefined && limit.max?.['storage'] === undefined;
  return [
    ...namesIn('max'),
    ...namesIn('min'),
    ...(['default', 'defaultRequest'] as const).flatMap((list) => {
      if (limit.type !== 'Pod') return namesIn(list);
      const isEmpty = Object.keys(limit[list] ?? {}).length === 0;
      return isEmpty ? [] : [forbidden(`${path}.${list}`, "may not be specified when `type` is 'Pod'")];
    }),
    ...(limit.type === 'PersistentVolumeClaim' && isWithoutStorage
      ? [required(`${path}.limits`, 'either minimum or maximum storage value is required, but neither was provided')]
      : []),
    ...namesIn('maxLimitRequestRatio'),
  ];
};

type Amounts = { readonly [K in List]: Quantity | undefined };

/** What is said of each resource. A pod has no defaults, whatever it says. */
const amountsOf = (limit: DecodedLimit): [string, Amounts][] => {
  const lists: readonly List[] =
    limit.type === 'Pod' ? ['max', 'min', 'maxLimitRequestRatio'] : ['max', 'min', 'default', 'defaultRequest', 'maxLimitRequestRatio'];
  const amount = (list: List, name: string): Quantity | undefined => {
    // Names such as `constructor` are found in every object.
    const written = lists.includes(list) ? limit[list] : undefined;
    const text = written !== undefined && Object.hasOwn(written, name) ? written[name] : undefined;
    return text === undefined ? undefined : parseQuantity(text);
  };
  const names = new Set(lists.flatMap((list) => Object.keys(limit[list] ?? {})));
  return [...names].toSorted().map((name) => [
    name,
    {
      max: amount('max', name),
      min: amount('min', name),
      default: amount('default', name),
      defaultRequest: amount('defaultRequest', name),
      maxLimitRequestRatio: amount('maxLimitRequestRatio', name),
    },
  ]);
};

const ONE = parseQuantity(1);

const validateAmounts = (name: string, amounts: Amounts, path: string): FieldError[] => {
  const { min, max, default: limit, defaultRequest: request, maxLimitRequestRatio: ratio } = amounts;
  const at = (list: List): string => `${path}.${list}[${name}]`;
  const show = (quantity: Quantity | undefined): string => (quantity === undefined ? '' : formatQuantity(quantity));
  const errors: FieldError[] = [];
  const refuse = (list: List, shown: Quantity | undefined, detail: string): void =>
    void errors.push(invalid(at(list), show(shown), detail));
  if (isAbove(min, max)) refuse('min', min, `min value ${show(min)} is greater than max value ${show(max)}`);
  if (isAbove(min, request)) {
    refuse('defaultRequest', request, `min value ${show(min)} is greater than default request value ${show(request)}`);
  }
  if (isAbove(request, max)) {
    refuse('defaultRequest', request, `default request value ${show(request)} is greater than max value ${show(max)}`);
  }
  if (isAbove(request, limit)) {
    refuse('defaultRequest', request, `default request value ${show(request)} is greater than default limit value ${show(limit)}`);
  }
  // In these two upstream shows the bound, not the default.
  if (isAbove(min, limit)) refuse('default', min, `min value ${show(min)} is greater than default value ${show(limit)}`);
  if (isAbove(limit, max)) refuse('default', max, `default value ${show(limit)} is greater than max value ${show(max)}`);
  if (isAbove(ONE, ratio)) refuse('maxLimitRequestRatio', ratio, `ratio ${show(ratio)} is less than 1`);
  if (ratio !== undefined && min !== undefined && max !== undefined) {
    const widest = greatestRatio(ratio, min, max);
    if (widest !== undefined) {
      refuse('maxLimitRequestRatio', ratio, `ratio ${show(ratio)} is greater than max/min = ${widest.toFixed(6)}`);
    }
  }
  const differ = request !== undefined && limit !== undefined && compareQuantities(request, limit) !== 0;
  if (!mayBeOvercommitted(name) && differ) {
    refuse('defaultRequest', request, `default value ${show(limit)} must equal to defaultRequest value ${show(request)} in ${name}`);
  }
  return errors;
};

const isAbove = (a: Quantity | undefined, b: Quantity | undefined): boolean =>
  a !== undefined && b !== undefined && compareQuantities(a, b) > 0;

/** Above this, thousandths do not fit an int64 (resource.MaxMilliValue). */
const MAX_MILLI_VALUE = (2n ** 63n - 1n) / 1000n;

/** The quotient of the bounds, where the ratio exceeds it and so can never be reached. */
const greatestRatio = (ratio: Quantity, min: Quantity, max: Quantity): number | undefined => {
  const isFine = [ratio, min, max].every((each) => toUnits(each) < MAX_MILLI_VALUE);
  const [asked, low, high] = isFine
    ? [Number(toMilliUnits(ratio)) / 1000, Number(toMilliUnits(min)), Number(toMilliUnits(max))]
    : [Number(toUnits(ratio)), Number(toUnits(min)), Number(toUnits(max))];
  return asked > high / low ? high / low : undefined;
};
