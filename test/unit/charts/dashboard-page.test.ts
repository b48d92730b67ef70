import { expect, test } from 'vitest';
import { managerConfig } from '../../support/chart-config.ts';
import { ofKind, renderChart } from '../../support/helm.ts';

test('the manager chart serves the dashboard where it is asked to, with the rights to ask who looks', () => {
  expect(managerConfig().dashboard).toBeUndefined();
  expect(managerConfig('dashboard.enabled=true').dashboard).toEqual({
    address: '0.0.0.0:8444',
    tls: 'Own',
    actions: false,
    liveLogs: false,
  });
  expect(managerConfig('dashboard.enabled=true', 'dashboard.actions=true').dashboard).toMatchObject({ actions: true });
  const own = ['dashboard.enabled=true', 'dashboard.port=9001', 'dashboard.tls.existingSecret=seen', 'dashboard.userHeader=X-User'];
  const tls = { certFile: '/etc/switchyard/dashboard-tls/tls.crt', keyFile: '/etc/switchyard/dashboard-tls/tls.key' };
  expect(managerConfig(...own, 'dashboard.proxies={10.0.0.0/8}').dashboard).toEqual({
    address: '0.0.0.0:9001',
    tls,
    actions: false,
    liveLogs: false,
    proxy: { userHeader: 'x-user', from: ['10.0.0.0/8'] },
  });
  const objects = renderChart('manager', ...own.slice(0, 3));
  expect(JSON.stringify(ofKind(objects, 'Service'))).toContain('"name":"dashboard","port":9001,"targetPort":"dashboard"');
  expect(JSON.stringify(ofKind(objects, 'NetworkPolicy'))).toContain('{"port":9001,"protocol":"TCP"}');
  expect(JSON.stringify(ofKind(objects, 'ClusterRole'))).toContain('subjectaccessreviews');
});

test('logs of pods that run are read where that is asked for, and on its own cluster where that is a worker cluster, too', () => {
  const live = ['dashboard.enabled=true', 'dashboard.liveLogs=true'];
  expect(managerConfig(...live).dashboard).toMatchObject({ liveLogs: true });
  const local = ['localWorker.enabled=true', 'localWorker.users={worker}'];
  const readsLogs = (...values: string[]): boolean =>
    JSON.stringify(ofKind(renderChart('manager', ...values), 'ClusterRole')).includes('"pods/log"');
  expect([readsLogs(...live), readsLogs(...local, 'dashboard.enabled=true'), readsLogs(...live, ...local)]).toEqual([false, false, true]);
});

test('users sign in at an OpenID provider where the chart names one: with its Secrets, and a way through the network policy', () => {
  const oidc = [
    'dashboard.enabled=true',
    'dashboard.externalUrl=https://switchyard.example',
    'dashboard.oidc.issuerUrl=https://id.example:9555/realms/us',
    'dashboard.oidc.clientId=switchyard',
    'dashboard.oidc.clientSecret=client',
    'dashboard.oidc.caSecret=ca',
    'dashboard.oidc.usernameClaim=email',
    'dashboard.oidc.groupsClaim=groups',
    'dashboard.oidc.groupsPrefix=oidc:',
  ];
  expect(managerConfig(...oidc).dashboard?.signIn).toEqual({
    issuer: 'https://id.example:9555/realms/us',
    name: 'id.example:9555',
    clientId: 'switchyard',
    externalUrl: 'https://switchyard.example/',
    clientSecretFile: '/etc/switchyard/oidc-client/client-secret',
    caFile: '/etc/switchyard/oidc-ca/ca.crt',
    identity: { usernameClaim: 'email', usernamePrefix: '', groupsClaim: 'groups', groupsPrefix: 'oidc:' },
  });
  const objects = renderChart('manager', ...oidc);
  const deployment = JSON.stringify(ofKind(objects, 'Deployment'));
  for (const [name, secretName] of [
    ['oidc-client', 'client'],
    ['oidc-ca', 'ca'],
  ]) {
    expect(deployment).toContain(`{"name":"${name}","secret":{"secretName":"${secretName}"}}`);
    expect(deployment).toContain(`"mountPath":"/etc/switchyard/${name}","name":"${name}","readOnly":true`);
  }
  expect(JSON.stringify(ofKind(objects, 'NetworkPolicy'))).toContain('{"port":9555,"protocol":"TCP"}');
  expect(JSON.stringify(ofKind(renderChart('manager', ...oidc.slice(1)), 'NetworkPolicy'))).not.toContain('9555');
});
