import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { allowedEnvironment, ALWAYS_PASSED, isBatonVariable } from './environment.ts';

const passedOf = (env: Record<string, string>, pass: string[] = []): string[] =>
  Object.keys(allowedEnvironment(env, pass).passed);

const given = (...names: string[]): Record<string, string> => Object.fromEntries(names.map((name) => [name, 'x']));

describe('variables that pass by default', () => {
  it.each([
    ['where the user is', ['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'TMPDIR', 'XDG_RUNTIME_DIR', 'XDG_CONFIG_HOME']],
    ['language and terminal', ['LANG', 'LC_ALL', 'LC_CTYPE', 'TZ', 'TERM', 'COLORTERM', 'CI']],
    ['proxies in both cases', ['http_proxy', 'HTTPS_PROXY', 'no_proxy', 'ALL_PROXY']],
    ['certificates', ['SSL_CERT_FILE', 'NODE_EXTRA_CA_CERTS', 'REQUESTS_CA_BUNDLE', 'PIP_CERT', 'DENO_CERT']],
    ['certificates of clients of Google', ['GRPC_DEFAULT_SSL_ROOTS_FILE_PATH', 'HTTPLIB2_CA_CERTS']],
    ['toolchains', ['JAVA_HOME', 'GOPATH', 'CARGO_HOME', 'RUSTUP_HOME', 'NVM_DIR', 'PYENV_ROOT', 'VIRTUAL_ENV']],
  ])('%s', (_, names) => {
    expect(passedOf(given(...names))).toEqual(names);
  });

  it.each([
    'AWS_SECRET_ACCESS_KEY',
    'GITHUB_TOKEN',
    'GH_TOKEN',
    'ANTHROPIC_API_KEY',
    'OPENAI_API_KEY',
    'DATABASE_URL',
    'npm_config__authToken',
    'NPM_TOKEN',
    'SSH_AUTH_SOCK',
    'NODE_OPTIONS',
    'LD_PRELOAD',
    'GIT_DIR',
    'GIT_SSH_COMMAND',
    'PATHS',
    'MY_PATH',
    'path',
    'CI_JOB_TOKEN',
    'LC',
  ])('not %s', (name) => {
    expect(allowedEnvironment(given(name, 'PATH'))).toEqual({ passed: { PATH: 'x' }, dropped: [name] });
  });
});

describe('variables that `pass` adds', () => {
  it('accepts a name or a prefix', () => {
    const env = given('A_ONE', 'A_TWO', 'A', 'B', 'AB');
    expect(passedOf(env, ['A'])).toEqual(['A']);
    expect(passedOf(env, ['A_*'])).toEqual(['A_ONE', 'A_TWO']);
    expect(passedOf(env, ['A*'])).toEqual(['A_ONE', 'A_TWO', 'A', 'AB']);
  });

  it.each([['BATON_GITHUB_WEBHOOK_SECRET'], ['BATON_*'], ['BATON*'], ['B*'], ['*']])(
    "is never one of the daemon's own variables: %s",
    (pattern) => {
      const { passed, dropped } = allowedEnvironment(given('BATON_GITHUB_WEBHOOK_SECRET', 'BATON_TOKEN'), [pattern]);
      expect(passed).toEqual({});
      expect(dropped).toEqual(['BATON_GITHUB_WEBHOOK_SECRET', 'BATON_TOKEN']);
    },
  );
});

it('lists the names of dropped variables, not their values', () => {
  const name = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,20}$/);
  fc.assert(
    fc.property(fc.dictionary(name, fc.constant('secret-value')), fc.array(name), (env, pass) => {
      const { passed, dropped } = allowedEnvironment(env, pass);
      expect(JSON.stringify(dropped)).not.toContain('secret-value');
      for (const each of Object.keys(env)) {
        expect(Number(each in passed) + Number(dropped.includes(each))).toBeLessThanOrEqual(1);
        expect(isBatonVariable(each) && each in passed).toBe(false);
      }
    }),
  );
});

it('has no default prefix that secrets begin with', () => {
  expect(ALWAYS_PASSED.filter((each) => each.endsWith('*'))).toEqual(['LC_*', 'XDG_*']);
});
