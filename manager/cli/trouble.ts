import { ApiError } from '../../shared/kube/api-error.ts';
import { connectionFailure } from '../../shared/kube/connection-failure.ts';
import { KubeconfigError } from '../../shared/kube/kubeconfig/kubeconfig-error.ts';
import { UnusableAnswer } from '../../shared/kube/unusable-answer.ts';
import { FlagError } from '../../shared/runtime/flags.ts';
import { CommandError } from './command-error.ts';
import { ExitCode } from './exit-codes.ts';

/**
 * What went wrong between us and a cluster, with field and remedy. `which` is what the cluster is called: "the manager cluster". Whatever
 * is no trouble of a cluster is given back as it is.
 */
export function troubleWith(which: string, server: string, error: unknown): unknown {
  if (error instanceof CommandError || error instanceof FlagError) return error;
  if (error instanceof ApiError) return new CommandError(...refusal(which, error), { cause: error });
  if (error instanceof UnusableAnswer)
    return new CommandError(
      `${which} (${server}): ${error.message}; is that the address of a Kubernetes API server?`,
      ExitCode.Unreachable,
      { cause: error },
    );
  const kubeconfig = kubeconfigErrorIn(error);
  if (kubeconfig !== undefined) return new CommandError(`--kubeconfig: ${kubeconfig.message}`, ExitCode.Unreachable, { cause: error });
  const failure = connectionFailure(error);
  if (!(error instanceof Error) || (failure === 'there was no answer' && !('code' in error) && error.cause === undefined)) return error;
  return new CommandError(
    `${which} (${server}) cannot be reached: ${failure}; look at --kubeconfig and --context, and whether the server is up`,
    ExitCode.Unreachable,
    { cause: error },
  );
}

/** Credentials are read when a request is made, so their error comes as the cause of a request without an answer. */
function kubeconfigErrorIn(error: unknown): KubeconfigError | undefined {
  if (error instanceof KubeconfigError) return error;
  return error instanceof Error && error.cause !== undefined ? kubeconfigErrorIn(error.cause) : undefined;
}

function refusal(which: string, error: ApiError): [string, number] {
  const causes = (error.status.details?.causes ?? []).flatMap(({ field, message }) => (field ? [`${field}: ${message ?? ''}`] : []));
  const said = causes.length === 0 ? error.message : causes.join('; ');
  switch (error.code) {
    case 401:
      return [
        `${which} does not know who you are; renew the credentials of the kubeconfig, or choose another with --context`,
        ExitCode.Unreachable,
      ];
    case 403:
      return [`${which} refused: ${error.message}; ask whoever administers it for that right`, ExitCode.Failed];
    case 404:
      return [notFound(which, error), ExitCode.Failed];
    case 429:
    case 503:
    case 504:
      return [`${which} has no time: ${error.message}; try again later`, ExitCode.Unreachable];
    default:
      return [`${which} refused: ${said}`, ExitCode.Failed];
  }
}

/** A kind that is not there answers like an object that is not there, but for the name. */
const notFound = (which: string, error: ApiError): string =>
  error.status.details?.name === undefined
    ? `${which} does not serve what was asked for: are Switchyard’s definitions installed there (helm install switchyard-manager)? --context chooses another cluster`
    : `${which}: ${error.message}`;
