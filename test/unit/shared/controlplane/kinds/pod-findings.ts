import { podStrategy } from '../../../../../shared/controlplane/kinds/pod-strategy.ts';
import { driveKind } from '../../../../support/kind-driver.ts';

export const pods = driveKind(podStrategy);
export const container = { name: 'c', image: 'i' };
const spec = { restartPolicy: 'Never', containers: [container] };

/** What is found in a pod with these fields, without the long explanations of name formats. */
export const findingsOf = (fields: object, metadata: object = {}): string[] =>
  pods
    .create({ metadata: { name: 'p', ...metadata }, spec: { ...spec, ...fields } })
    .findings.map((finding) => finding.replace(/ \(e\.g\. '.*$/, ''));
