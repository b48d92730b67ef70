import { forbidden, invalid, notSupported, required, type FieldError } from '../apimachinery/field-error.ts';
import { validateFormat } from './choice-validation.ts';
import type { DecodedContainer, DecodedPodSpec, DecodedProbe } from './decoded.ts';
import { httpHeaderNameProblems, portNameProblems } from '../../kube/name-formats.ts';
import { validateNonNegative, validateRange } from './number-validation.ts';

type Handler = NonNullable<NonNullable<DecodedContainer['lifecycle']>['preStop']> & Pick<DecodedProbe, 'grpc'>;

export const validateProbes = (container: DecodedContainer, path: string): FieldError[] => {
  const { livenessProbe, readinessProbe, startupProbe } = container;
  const errors: FieldError[] = [];
  if (livenessProbe) errors.push(...validateProbe(livenessProbe, `${path}.livenessProbe`, true));
  if (readinessProbe) {
    errors.push(...validateProbe(readinessProbe, `${path}.readinessProbe`, false));
    const seconds = readinessProbe.terminationGracePeriodSeconds;
    if (seconds !== undefined) {
      errors.push(invalid(`${path}.readinessProbe.terminationGracePeriodSeconds`, seconds, 'must not be set for readinessProbes'));
    }
  }
  if (startupProbe) errors.push(...validateProbe(startupProbe, `${path}.startupProbe`, true));
  return errors;
};

const validateProbe = (probe: DecodedProbe, path: string, succeedsOnce: boolean): FieldError[] => {
  const { terminationGracePeriodSeconds: grace, successThreshold = 0 } = probe;
  return [
    ...validateHandler(probe, path, undefined),
    ...validateNonNegative(probe.initialDelaySeconds, `${path}.initialDelaySeconds`),
    ...validateNonNegative(probe.timeoutSeconds, `${path}.timeoutSeconds`),
    ...validateNonNegative(probe.periodSeconds, `${path}.periodSeconds`),
    ...validateNonNegative(probe.successThreshold, `${path}.successThreshold`),
    ...validateNonNegative(probe.failureThreshold, `${path}.failureThreshold`),
    ...(grace !== undefined && grace <= 0 ? [invalid(`${path}.terminationGracePeriodSeconds`, grace, 'must be greater than 0')] : []),
    ...(succeedsOnce && successThreshold !== 1 ? [invalid(`${path}.successThreshold`, successThreshold, 'must be 1')] : []),
  ];
};

export const validateLifecycle = (
  lifecycle: DecodedContainer['lifecycle'],
  path: string,
  { terminationGracePeriodSeconds: graceSeconds, os }: DecodedPodSpec,
): FieldError[] => [
  ...(lifecycle?.postStart ? validateHandler(lifecycle.postStart, `${path}.postStart`, graceSeconds) : []),
  ...(lifecycle?.preStop ? validateHandler(lifecycle.preStop, `${path}.preStop`, graceSeconds) : []),
  ...(lifecycle?.stopSignal === undefined ? [] : validateStopSignal(lifecycle.stopSignal, `${path}.stopSignal`, os)),
];

/** Signals have the names of the system that sends them. */
const validateStopSignal = (signal: string, path: string, os: DecodedPodSpec['os']): FieldError[] => {
  if (os === undefined) return [forbidden(path, 'may not be set for containers with empty `spec.os.name`')];
  const supported = os.name === 'windows' ? ['SIGKILL', 'SIGTERM'] : os.name === 'linux' ? LINUX_SIGNALS : undefined;
  return supported === undefined || supported.includes(signal) ? [] : [notSupported(path, signal, supported)];
};

const LINUX_SIGNALS: readonly string[] = [
  ...'ABRT ALRM BUS CHLD CLD CONT FPE HUP ILL INT IO IOT KILL PIPE POLL PROF PWR QUIT SEGV STKFLT STOP SYS TERM TRAP TSTP TTIN TTOU URG'.split(
    ' ',
  ),
  ...'USR1 USR2 VTALRM WINCH XCPU XFSZ RTMIN RTMAX'.split(' '),
  ...Array.from({ length: 15 }, (_, i) => `RTMIN+${i + 1}`),
  ...Array.from({ length: 14 }, (_, i) => `RTMAX-${i + 1}`),
]
  .map((name) => `SIG${name}`)
  .toSorted();

/** Exactly one way of acting; each further one is forbidden and not looked into. */
const validateHandler = (handler: Handler, path: string, graceSeconds: number | undefined): FieldError[] => {
  const { exec, httpGet, tcpSocket, grpc, sleep } = handler;
  const actions: [string, () => FieldError[]][] = [];
  if (exec) actions.push(['exec', () => ((exec.command ?? []).length === 0 ? [required(`${path}.exec.command`)] : [])]);
  if (httpGet) actions.push(['httpGet', () => validateHttpGet(httpGet, `${path}.httpGet`)]);
  if (tcpSocket) actions.push(['tcpSocket', () => validatePort(tcpSocket.port, `${path}.tcpSocket.port`)]);
  if (grpc) actions.push(['grpc', () => validatePort(grpc.port, `${path}.grpc.port`)]);
  if (sleep) actions.push(['sleep', () => validateSleep(sleep.seconds ?? 0, `${path}.sleep`, graceSeconds)]);
  if (actions.length === 0) return [required(path, 'must specify a handler type')];
  return actions.flatMap(([name, validate], i) =>
    i === 0 ? validate() : [forbidden(`${path}.${name}`, 'may not specify more than 1 handler type')],
  );
};

const validateHttpGet = (action: NonNullable<DecodedProbe['httpGet']>, path: string): FieldError[] => [
  ...((action.path ?? '') === '' ? [required(`${path}.path`)] : []),
  ...validatePort(action.port, `${path}.port`),
  ...(action.scheme === 'HTTP' || action.scheme === 'HTTPS'
    ? []
    : [notSupported(`${path}.scheme`, action.scheme ?? '', ['HTTP', 'HTTPS'])]),
  ...(action.httpHeaders ?? []).flatMap(({ name = '' }) => validateFormat(name, `${path}.httpHeaders`, httpHeaderNameProblems)),
];

/** An IntOrString; an absent one is the number 0. */
const validatePort = (port: unknown, path: string): FieldError[] =>
  typeof port === 'string'
    ? validateFormat(port, path, portNameProblems)
    : validateRange(typeof port === 'number' ? port : 0, 1, 65_535, path);

const validateSleep = (seconds: number, path: string, graceSeconds: number | undefined): FieldError[] =>
  graceSeconds === undefined || (seconds >= 0 && seconds <= graceSeconds)
    ? []
    : [invalid(path, seconds, `must be non-negative and less than terminationGracePeriodSeconds (${graceSeconds})`)];
