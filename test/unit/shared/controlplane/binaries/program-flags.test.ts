import { expect, test } from 'vitest';
import { apiServerFlags, controllerManagerFlags } from '../../../../../shared/controlplane/binaries/program-flags.ts';

const SERVER = { directory: '/d', etcdUrl: 'http://127.0.0.1:1', etcdPrefix: '/east', port: 2 };
const NO_SERVICE_ACCOUNTS = '--disable-admission-plugins=ServiceAccount';

test('the API server admits pods without the ServiceAccounts that no controller creates', () => {
  expect(apiServerFlags({ ...SERVER, hasServiceAccounts: false })).toContain(NO_SERVICE_ACCOUNTS);
  expect(apiServerFlags({ ...SERVER, hasServiceAccounts: true })).not.toContain(NO_SERVICE_ACCOUNTS);
});

test('several API servers share one etcd, each under a prefix', () => {
  expect(apiServerFlags({ ...SERVER, hasServiceAccounts: true })).toContain('--etcd-prefix=/east');
});

test('kube-controller-manager runs what is asked for, and what makes ServiceAccounts, their tokens and aggregated roles', () => {
  const flags = controllerManagerFlags({ directory: '/d', kubeconfigFile: '/k', controllers: ['namespace-controller'] });
  expect(flags).toContain(
    '--controllers=serviceaccount-controller,serviceaccount-token-controller,root-ca-certificate-publisher-controller,clusterrole-aggregation-controller,namespace-controller',
  );
  expect(flags).toContain('--service-account-private-key-file=/d/service-account.key');
});
