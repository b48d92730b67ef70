import { expect, test } from 'vitest';
import { MANAGER_ADDRESS } from '../../../manager/cli/server/manager-address.ts';
import { renderChart, type Rendered } from '../../support/helm.ts';

test('says in a ConfigMap that all authenticated users may read where the HTTP API is', () => {
  const inPublic = (objects: readonly Rendered[]) => objects.filter(({ metadata }) => metadata.namespace === 'kube-public');
  const url = ['api.discovery.url=https://switchyard.example', 'api.discovery.caBundle=CA'];
  expect(inPublic(renderChart('manager'))).toEqual([]);
  expect(inPublic(renderChart('manager', 'api.enabled=true', 'api.discovery.enabled=false'))).toEqual([]);
  const [map, role, binding] = inPublic(renderChart('manager', 'api.enabled=true', ...url));
  expect(map).toMatchObject({
    kind: 'ConfigMap',
    metadata: MANAGER_ADDRESS,
    data: { server: 'https://switchyard.example', 'ca.crt': 'CA' },
  });
  expect(role).toMatchObject({
    kind: 'Role',
    rules: [{ resources: ['configmaps'], resourceNames: [MANAGER_ADDRESS.name], verbs: ['get'] }],
  });
  expect(binding).toMatchObject({ roleRef: { name: role?.metadata.name }, subjects: [{ kind: 'Group', name: 'system:authenticated' }] });
  const [service] = inPublic(renderChart('manager', 'api.enabled=true', 'api.port=9000'));
  expect(service).toMatchObject({ data: { server: expect.stringMatching(/^https:\/\/\S+\.switchyard\.svc:9000$/) as string } });
});
