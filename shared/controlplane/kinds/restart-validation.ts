import { duplicate, forbidden, invalid, notSupported, required, tooMany, type FieldError } from '../apimachinery/field-error.ts';
import { validateChoice } from './choice-validation.ts';
import type { DecodedContainer } from './decoded.ts';

const POLICIES = ['Always', 'Never', 'OnFailure'];
const RULES_MAX = 20;
const EXIT_CODES_MAX = 255;
const RULES_NEED_POLICY = 'must specify restartPolicy when restart rules are used';

/** validateContainerRestartPolicy. */
export const validateRestartRules = ({ restartPolicy, restartPolicyRules: rules = [] }: DecodedContainer, path: string): FieldError[] => {
  if (restartPolicy === undefined && rules.length === 0) return [];
  const errors: FieldError[] = [];
  if (restartPolicy === undefined) errors.push(required(`${path}.restartPolicy`, RULES_NEED_POLICY));
  else if (!POLICIES.includes(restartPolicy)) errors.push(notSupported(`${path}.restartPolicy`, restartPolicy, POLICIES));
  if (rules.length > RULES_MAX) errors.push(tooMany(`${path}.restartPolicyRules`, rules.length, RULES_MAX));
  for (const [i, { action = '', exitCodes }] of rules.entries()) {
    const at = `${path}.restartPolicyRules[${i}]`;
    if (action !== 'Restart') errors.push(notSupported(`${at}.action`, action, ['Restart']));
    if (exitCodes === undefined) errors.push(required(`${at}.exitCodes`, 'must be specified'));
    else {
      const { operator = '', values = [] } = exitCodes;
      if (operator !== 'In' && operator !== 'NotIn') errors.push(notSupported(`${at}.exitCodes.operator`, operator, ['In', 'NotIn']));
      if (values.length > EXIT_CODES_MAX) errors.push(tooMany(`${at}.exitCodes.values`, values.length, EXIT_CODES_MAX));
    }
  }
  return errors;
};

/** validateInitContainerRestartPolicy: sidecars restart anyway. */
export const validateRestartRulesOfInit = (container: DecodedContainer, path: string): FieldError[] => {
  const rules = container.restartPolicyRules ?? [];
  if (container.restartPolicy === undefined) return rules.length > 0 ? [required(`${path}.restartPolicy`, RULES_NEED_POLICY)] : [];
  if (container.restartPolicy !== 'Always') return validateRestartRules(container, path);
  if (rules.length === 0) return [];
  return [forbidden(`${path}.restartPolicyRules`, 'restartPolicyRules are not allowed for init containers with restart policy Always')];
};

/** validateResizePolicy. */
export const validateResizePolicy = (
  policies: NonNullable<DecodedContainer['resizePolicy']>,
  path: string,
  podRestartPolicy: string | undefined,
): FieldError[] => {
  const seen = new Set<string>();
  return policies.flatMap(({ resourceName = '', restartPolicy = '' }, i) => {
    const errors = seen.has(resourceName) ? [duplicate(`${path}[${i}]`, resourceName)] : [];
    seen.add(resourceName);
    // Upstream names the list in the paths of what follows.
    errors.push(...validateChoice(resourceName, path, ['cpu', 'memory']));
    errors.push(...validateChoice(restartPolicy, path, ['NotRequired', 'RestartContainer']));
    if (podRestartPolicy === 'Never' && restartPolicy !== 'NotRequired') {
      errors.push(invalid(path, restartPolicy, "must be 'NotRequired' when pod `restartPolicy` is 'Never'"));
    }
    return errors;
  });
};
