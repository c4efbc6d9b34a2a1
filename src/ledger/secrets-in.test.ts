import { describe, expect, it } from 'vitest';
import { findSecretValues } from './redact.ts';

describe('the secrets of an environment', () => {
  it.each([
    ['MY_SERVICE_TOKEN', 'zX81-quite-a-value'],
    ['AWS_SECRET_ACCESS_KEY', 'wJalrXUtnFEMI/K7MDENG'],
    ['DB_PASSWORD', 'hunter2x'],
    ['DB_PASSWD', 'p@ss!word'],
    ['npm_config__authToken', 'd41d8cd98f00b204'],
    ['GPG_PASSPHRASE', 'correct horse battery staple'],
    ['ACME_API_KEY', 'a1b2c3d4'],
    ['SECRET_KEY_BASE', 'f00f00f00'],
  ])('has the value of %s', (name, value) => {
    expect(findSecretValues({ [name]: `${value}\n` })).toEqual([value]);
  });

  it.each([
    ['HOME', '/home/ada1234567890'],
    ['DB_PASSWORD', 'postgres'],
    ['DB_PASSWORD', 'change-me-now'],
    ['MAX_OUTPUT_TOKENS', 'a1b2c3d4'],
    ['JIRA_PROJECT_KEY', 'PLATFORM2'],
    ['TOKEN_FILE', 'config/tokens.json'],
    ['GOOGLE_APPLICATION_CREDENTIALS', '/run/secrets/google-1234.json'],
    ['DEPLOY_TOKEN', 'https://login.example.com/oauth2/token'],
    ['API_KEY', ''],
    ['SHORT_TOKEN', 'a1b2'],
  ])('has not %s=%s', (name, value) => {
    expect(findSecretValues({ [name]: value, EMPTY_TOKEN: undefined })).toEqual([]);
  });

  it('names each once, the longest first', () => {
    const [short, long] = ['abc12345', 'abc12345-and-more'];
    expect(findSecretValues({ A_TOKEN: short, B_TOKEN: long, C_TOKEN: short })).toEqual([long, short]);
  });
});
