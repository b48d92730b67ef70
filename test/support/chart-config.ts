import { MANAGER_PROGRAM, type ManagerConfig } from '../../manager/config/config.ts';
import { CERTIFICATES_PROGRAM, type CertificatesConfig } from '../../manager/config/certificates-program.ts';
import { parseFlags, type ParsedFlags } from '../../shared/runtime/flags.ts';
import { WORKER_PROGRAM, type WorkerConfig } from '../../worker/config.ts';
import { ofKind, renderChart, type Rendered } from './helm.ts';

type SecretKeyRef = { name: string; key: string };
type Container = {
  image: string;
  args: string[];
  env?: { name: string; value?: string; valueFrom?: { secretKeyRef: SecretKeyRef } }[];
  securityContext: object;
};
/** Of the Deployment of the chart's program, or of another one. */
export const containerOf = (objects: readonly Rendered[], suffix?: string): Container => {
  const deployments = ofKind(objects, 'Deployment') as unknown as {
    metadata: { name: string };
    spec: { template: { spec: { containers: Container[] } } };
  }[];
  const deployment = suffix === undefined ? deployments[0] : deployments.find(({ metadata }) => metadata.name.endsWith(suffix));
  const container = deployment?.spec.template.spec.containers[0];
  if (container === undefined) throw new Error('the chart renders no container');
  return container;
};

/** What a Secret of the release says; of somebody else's Secret it is not known. */
function secretValue(objects: readonly Rendered[], ref: SecretKeyRef | undefined): string {
  const secret = ofKind(objects, 'Secret').find(({ metadata }) => metadata.name === ref?.name) as
    | { data?: Record<string, string> }
    | undefined;
  return Buffer.from(secret?.data?.[ref?.key ?? ''] ?? '', 'base64').toString();
}

/** The configuration that the program itself reads from what the chart passes to it. */
const configOf = <Config>(
  parse: (args: string[], environment: Record<string, string>) => ParsedFlags<Config>,
  objects: readonly Rendered[],
  suffix?: string,
): Config => {
  const { args, env = [] } = containerOf(objects, suffix);
  const environment = Object.fromEntries(env.map((each) => [each.name, each.value ?? secretValue(objects, each.valueFrom?.secretKeyRef)]));
  const parsed = parse(args, environment);
  if (parsed.kind !== 'Run') throw new Error(JSON.stringify(parsed));
  return parsed.config;
};
export const managerConfig = (...values: string[]): ManagerConfig =>
  configOf((args, environment) => parseFlags(MANAGER_PROGRAM, args, environment), renderChart('manager', ...values));
export const certificatesConfig = (...values: string[]): CertificatesConfig =>
  configOf((args, environment) => parseFlags(CERTIFICATES_PROGRAM, args, environment), renderChart('manager', ...values), '-certificates');
export const workerConfig = (...values: string[]): WorkerConfig =>
  configOf((args, environment) => parseFlags(WORKER_PROGRAM, args, environment), renderChart('worker', ...values));
