import type { LabelSelector } from '../../api/kubernetes.ts';
import type { Decoded } from './decoded.ts';

/** FormatLabelSelector of apimachinery: `a=b,c in (d,e),!f`; `<none>` for one that selects everything or is absent. */
export const formatSelector = (selector: Decoded<LabelSelector> | undefined): string => {
  const terms: [string, string][] = Object.entries(selector?.matchLabels ?? {}).map(([key, value]) => [key, `${key}=${value}`]);
  for (const { key = '', operator = '', values = [] } of selector?.matchExpressions ?? []) {
    terms.push([key, formatExpression(key, operator, values.toSorted())]);
  }
  if (terms.length === 0) return '<none>';
  return terms
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, term]) => term)
    .join(',');
};

const formatExpression = (key: string, operator: string, values: readonly string[]): string => {
  switch (operator) {
    case 'In':
      return `${key} in (${values.join(',')})`;
    case 'NotIn':
      return `${key} notin (${values.join(',')})`;
    case 'DoesNotExist':
      return `!${key}`;
    default:
      return key;
  }
};
