/** The programs around the certificate of the webhook, by the names that the manager chart gives to a release called test. */
import { createCertificateKeeper } from '../../manager/certificates/certificate-keeper.ts';
import { createCertificateReader } from '../../manager/certificates/certificate-reader.ts';
import { makeKeyPair } from '../../manager/certificates/make-key-pair.ts';
import type { ManagerDeps } from '../../manager/process/manager-deps.ts';
import type { UserInfo } from '../../shared/controlplane/auth/user-info.ts';
import type { ControlPlane } from '../../shared/controlplane/control-plane.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { createKubeClient } from '../../shared/kube/kube-client.ts';
import type { Clock } from '../../shared/runtime/clock.ts';
import { silentLogger } from '../../shared/runtime/logger.ts';
import { seededRandom } from '../../shared/runtime/random.ts';
import { createLine, onLine, type Line } from './line.ts';

const CERTIFICATE = {
  secret: { namespace: 'switchyard', name: 'test-switchyard-manager-webhook-tls' },
  configuration: 'test-switchyard-manager',
  random: seededRandom(1),
  log: silentLogger,
};
export const RECORD_KEY = { recordKeySecret: { namespace: 'switchyard', name: 'test-switchyard-manager-record-key' } };

/** The webhook with the certificate of switchyard-certificates. */
export function ownCertificate(client: KubeClient, clock: Clock): Pick<ManagerDeps, 'certificates' | 'webhook'> {
  const reader = createCertificateReader({ ...CERTIFICATE, client, clock });
  return { certificates: reader, webhook: { address: '127.0.0.1:0', certificate: reader } };
}

/** switchyard-certificates with the account of the chart. */
export function startCertificates(
  plane: Pick<ControlPlane, 'transport'>,
  user: UserInfo,
  clock: Clock,
): { readonly line: Line; stop(): Promise<void> } {
  const line = createLine();
  const transport = onLine(plane.transport(user), line, 'home');
  const keeper = createCertificateKeeper({
    ...CERTIFICATE,
    client: createKubeClient(transport, { userAgent: 'switchyard-certificates', clock }),
    names: ['test-switchyard-manager.switchyard.svc'],
    makeKeyPair,
    clock,
  });
  const stopping = new AbortController();
  const running = keeper.run(stopping.signal);
  return {
    line,
    stop() {
      stopping.abort(new Error('the test is over'));
      return running;
    },
  };
}
