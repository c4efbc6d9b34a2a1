import { describe, expect, it } from 'vitest';
import { secretsIn } from './secrets-in.ts';

describe('the secrets of an environment', () => {
  it.each([
    ['MY_SERVICE_TOKEN', 'zX81-quite-a-value'],
    ['AWS_SECRET_ACCESS_KEY', 'wJalrXUtnFEMI/K7MDENG'],
    ['DB_PASSWORD', 'hunter2x'],
    ['npm_config__authToken', 'd41d8cd98f00b204'],
    ['GPG_PASSPHRASE', 'correct horse battery staple'],
    ['ACME_KEY', 'a1b2c3d4'],
  ])('has the value of %s', (name, value) => {
    expect(secretsIn({ [name]: value })).toEqual([value]);
  });

  it.each([
    ['HOME', '/home/ada1234567890'],
    ['DB_PASSWORD', 'postgres'],
    ['MAX_OUTPUT_TOKENS', '64000000'],
    ['GOOGLE_APPLICATION_CREDENTIALS', '/run/secrets/google-1234.json'],
    ['TOKEN_URL', 'https://login.example.com/oauth2/token'],
    ['API_KEY', ''],
    ['KEYBOARD', 'pc105-and-some-more'],
    ['SSH_KEY_PATH', '~/.ssh/id_ed25519'],
  ])('has not %s=%s', (name, value) => {
    expect(secretsIn({ [name]: value, EMPTY_TOKEN: undefined })).toEqual([]);
  });

  it('names each once, the longest first', () => {
    const [short, long] = ['abc12345', 'abc12345-and-more'];
    expect(secretsIn({ A_TOKEN: short, B_TOKEN: long, C_TOKEN: short })).toEqual([long, short]);
  });
});
