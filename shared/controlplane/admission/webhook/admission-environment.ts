import type { Environment } from '@marcbachmann/cel-js';
import { registerAuthorizerLibrary } from './authorizer-library.ts';
import { kubernetesEnvironment } from '../../cel/environment.ts';

/** What match conditions of webhooks may speak about. Objects are untyped: their schema is not looked at. */
export const admissionEnvironment: Environment = createAdmissionEnvironment();

function createAdmissionEnvironment(): Environment {
  const environment = kubernetesEnvironment.clone();
  registerAuthorizerLibrary(environment);
  return environment
    .registerVariable('object', 'dyn')
    .registerVariable('oldObject', 'dyn')
    .registerVariable('request', 'map<string, dyn>')
    .registerVariable('authorizer', 'kubernetes.authorization.Authorizer');
}
