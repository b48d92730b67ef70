import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { MANAGER_PROGRAM } from '../../../../manager/config/config.ts';
import { readSignInSettings, SIGN_IN_FLAGS, type SignInConfig } from '../../../../manager/config/sign-in-flags.ts';
import { parseFlags } from '../../../../shared/runtime/flags.ts';

const ISSUER = 'https://id.example/realms/us';
const NEEDED = [
  `--dashboard-oidc-issuer-url=${ISSUER}`,
  '--dashboard-oidc-client-id=switchyard',
  '--dashboard-external-url=https://yard.example',
];
function configOf(...flags: string[]): SignInConfig | undefined | string {
  const parsed = parseFlags(MANAGER_PROGRAM, ['--dashboard-bind-address=127.0.0.1:0', ...flags], {});
  return parsed.kind === 'Run' ? parsed.config.dashboard?.signIn : parsed.kind === 'Invalid' ? parsed.problem : 'help';
}

describe('sign-in by OIDC', () => {
  test('is off by default, and prefixes names as kube-apiserver does', () => {
    expect(configOf()).toBeUndefined();
    expect(configOf(...NEEDED)).toEqual({
      issuer: ISSUER,
      name: 'id.example',
      clientId: 'switchyard',
      externalUrl: 'https://yard.example/',
      identity: { usernameClaim: 'sub', usernamePrefix: `${ISSUER}#`, groupsPrefix: '' },
    });
    expect(configOf(...NEEDED, '--dashboard-oidc-username-claim=email')).toMatchObject({ identity: { usernamePrefix: '' } });
    expect(
      configOf(...NEEDED, '--dashboard-oidc-username-prefix=-', '--dashboard-oidc-groups-claim=roles', '--dashboard-oidc-groups-prefix=o:'),
    ).toMatchObject({
      identity: { usernameClaim: 'sub', usernamePrefix: '', groupsClaim: 'roles', groupsPrefix: 'o:' },
    });
    expect(configOf(...NEEDED, '--dashboard-oidc-token-review')).toMatchObject({ identity: 'TokenReview' });
  });

  test('names what is missing, and what does not go together', () => {
    expect(configOf(...NEEDED.slice(1))).toBe('--dashboard-external-url is for --dashboard-oidc-issuer-url, which is missing');
    expect(configOf('--dashboard-oidc-token-review')).toBe(
      '--dashboard-oidc-token-review is for --dashboard-oidc-issuer-url, which is missing',
    );
    expect(configOf(NEEDED[0] ?? '')).toBe('--dashboard-oidc-issuer-url needs --dashboard-oidc-client-id and --dashboard-external-url');
    expect(configOf(...NEEDED, '--dashboard-oidc-token-review', '--dashboard-oidc-groups-claim=groups')).toMatch(
      /^--dashboard-oidc-groups-claim and --dashboard-oidc-token-review exclude one another/,
    );
  });

  test.each([
    'http://id.example',
    'ftp://id.example',
    'id.example',
    'https://me:pw@id.example',
    'https://id.example/?a=b',
    'https://id.example/#',
    'javascript:alert(1)',
  ])('goes to no such address as %s', (url) => {
    expect(() => SIGN_IN_FLAGS['dashboard-oidc-issuer-url'].parse(url)).toThrow('write https://HOST/PATH');
    expect(() => SIGN_IN_FLAGS['dashboard-external-url'].parse(url)).toThrow('write https://HOST/PATH');
  });

  test('keeps an issuer as it is written, and gives an external URL its slash', () => {
    expect(SIGN_IN_FLAGS['dashboard-oidc-issuer-url'].parse('https://ID.example')).toBe('https://ID.example');
    expect(SIGN_IN_FLAGS['dashboard-oidc-issuer-url'].parse('http://127.0.0.1:5556/dex')).toBe('http://127.0.0.1:5556/dex');
    expect(SIGN_IN_FLAGS['dashboard-external-url'].parse('https://a.example/yard')).toBe('https://a.example/yard/');
  });

  test('asks for openid, and lets no prefix make names of the system', () => {
    expect(SIGN_IN_FLAGS['dashboard-oidc-scopes'].parse('openid, offline_access')).toEqual(['openid', 'offline_access']);
    expect(SIGN_IN_FLAGS['dashboard-oidc-scopes'].parse('email')).toEqual(['openid', 'email']);
    expect(() => SIGN_IN_FLAGS['dashboard-oidc-scopes'].parse('openid,a"b')).toThrow('cannot be used');
    expect(() => SIGN_IN_FLAGS['dashboard-oidc-groups-prefix'].parse('system:')).toThrow('write a prefix such as oidc:');
  });

  test('reads secret and authorities from files, and quotes neither', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'switchyard-sign-in-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const file = (name: string, text: string): string => (writeFileSync(path.join(folder, name), text), path.join(folder, name));
    const config = configOf(...NEEDED);
    if (typeof config !== 'object') return expect.unreachable();
    const pem = '-----BEGIN CERTIFICATE-----\n';
    expect(readSignInSettings({ ...config, clientSecretFile: file('secret', 'hunter2\n'), caFile: file('ca.crt', pem) })).toMatchObject({
      clientSecret: 'hunter2',
      ca: pem,
    });
    const wrong = file('wrong', 'hunter2 and more');
    for (const each of [{ clientSecretFile: wrong }, { caFile: wrong }, { caFile: path.join(folder, 'absent') }])
      expect(() => readSignInSettings({ ...config, ...each })).toThrow(/^--dashboard-oidc-(client-secret|ca)-file: (?!.*hunter2)/);
  });
});
