import { describe, expect, test } from 'vitest';
import { userOfClaims } from '../../../../manager/sign-in/oidc-user.ts';

const rules = { usernameClaim: 'sub', usernamePrefix: 'oidc:', groupsClaim: 'groups', groupsPrefix: 'oidc:' };
const byEmail = { usernameClaim: 'email', usernamePrefix: '', groupsPrefix: '' };

describe('claims name', () => {
  test('a user and groups with their prefixes', () => {
    expect(userOfClaims({ sub: 'ann', groups: ['dev', 'ops'] }, rules)).toEqual({
      username: 'oidc:ann',
      groups: ['oidc:dev', 'oidc:ops', 'system:authenticated'],
    });
    expect(userOfClaims({ sub: 'ann', groups: 'dev' }, rules)).toMatchObject({ groups: ['oidc:dev', 'system:authenticated'] });
    for (const groups of [undefined, null, []])
      expect(userOfClaims({ sub: 'ann', groups }, rules)).toMatchObject({ groups: ['system:authenticated'] });
    expect(userOfClaims({ email: 'a@b.example', groups: ['dev'] }, byEmail)).toEqual({
      username: 'a@b.example',
      groups: ['system:authenticated'],
    });
  });

  test('nobody of the system, also where prefix and claim make the name together', () => {
    expect(userOfClaims({ sub: 'system:admin' }, { ...rules, usernamePrefix: '' })).toMatchObject({
      problem: expect.stringContaining('"system:"') as unknown,
    });
    expect(userOfClaims({ sub: 'stem:admin' }, { ...rules, usernamePrefix: 'sy' })).toHaveProperty('problem');
    expect(userOfClaims({ sub: 'ann', groups: ['stem:masters', 'x'] }, { ...rules, groupsPrefix: 'sy' })).toEqual({
      username: 'oidc:ann',
      groups: ['syx', 'system:authenticated'],
    });
  });

  test('by an email address only what the provider has verified, or says nothing of', () => {
    expect(userOfClaims({ email: 'a@b.example', email_verified: true }, byEmail)).toMatchObject({ username: 'a@b.example' });
    for (const verified of [false, 'true', 'false', null, 1])
      expect(userOfClaims({ email: 'a@b.example', email_verified: verified }, byEmail)).toMatchObject({
        problem: 'Your provider has not verified your email address: verify it there, then sign in again.',
      });
    expect(userOfClaims({ sub: 'ann', email_verified: false }, rules)).toMatchObject({ username: 'oidc:ann' });
  });

  test('nobody where they are missing, of another kind or too many', () => {
    for (const sub of [undefined, '', '  ', 7, ['ann'], 'x'.repeat(510)]) expect(userOfClaims({ sub }, rules)).toHaveProperty('problem');
    for (const groups of [7, { dev: true }, ['dev', 7]]) expect(userOfClaims({ sub: 'ann', groups }, rules)).toHaveProperty('problem');
    const groups = Array.from({ length: 129 }, (_, index) => `g${index}`);
    expect(userOfClaims({ sub: 'ann', groups }, rules)).toMatchObject({ problem: expect.stringContaining('129 groups') as unknown });
    expect(userOfClaims({ sub: 'ann', groups: groups.slice(1) }, rules)).toHaveProperty('username');
  });
});
