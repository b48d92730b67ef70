/**
 * A hostile server in a process of its own, so that what it takes is not the manager's. It plays everything at once, to each of ten
 * clusters anew.
 */
import { TestAuthority } from '../../support/certificates.ts';
import { allTricksAtOnce, startHostileServer } from './hostile-worker-server.ts';

const authority = await TestAuthority.create();
const names = Array.from({ length: 10 }, (_each, index) => `hostile-${index}`);
const server = await startHostileServer(
  Object.fromEntries(names.map((name) => [name, allTricksAtOnce()])),
  await authority.sign('server', ['127.0.0.1']),
);
const kubeconfigOf = (name: string): string =>
  JSON.stringify({
    'current-context': 'c',
    contexts: [{ name: 'c', context: { cluster: 'c', user: 'u' } }],
    clusters: [
      { name: 'c', cluster: { server: server.url(name), 'certificate-authority-data': Buffer.from(authority.certPem).toString('base64') } },
    ],
    users: [{ name: 'u', user: { token: 't' } }],
  });
console.log(JSON.stringify({ kubeconfigs: Object.fromEntries(names.map((name) => [name, kubeconfigOf(name)])) }));
