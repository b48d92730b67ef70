import { FORM_FLAG } from '../cluster-flags.ts';
import { command } from '../command.ts';
import type { KindsTestConfig } from './config.ts';

export const KINDS_TEST = command({
  words: 'kinds test',
  summary: 'say what a description of a kind understands of objects; no cluster is asked',
  about:
    'Checks a WorkKind as the API server and the manager do, each expression included. Then says what it understands of each object: pod sets and requests, ' +
    'whether it is suspended, who runs it, how far it is, and each expression that fails. Objects with a status tell most.',
  operands: [
    { usage: '<FILE>', about: 'the WorkKind: YAML; - is standard input' },
    { usage: '[MANIFEST...]', about: 'objects of its kind: YAML' },
  ],
  flags: FORM_FLAG,
  exitCodes: { 1: 'the description or an object has a problem' },
  examples: ['kinds test crew.yaml my-crew.yaml', 'kinds test crew.yaml my-crew.yaml -o json'],
  configOf({ output }, [file = '', ...manifests]): KindsTestConfig {
    return { file, manifests, output };
  },
  load: async () => (await import('./run.ts')).runKindsTest,
});
