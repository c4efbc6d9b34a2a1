import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { filterCargoConfig } from './cargo-config.ts';
import { filterGitConfig } from './git-config.ts';
import { filterNpmrc } from './npmrc.ts';
import { filterPipConf } from './pip-conf.ts';
import { filterConfig, FILTERS, type FilterName } from './filters.ts';
import { withoutUserinfo } from './userinfo.ts';

const names = Object.keys(FILTERS).filter((name): name is FilterName => name in FILTERS);
const lines = (...all: readonly string[]): string => all.map((line) => `${line}\n`).join('');

describe('filterNpmrc', () => {
  it('keeps registries, proxies and preferences', () => {
    const kept = lines(
      'registry=https://npm.example.com/',
      '@acme:registry=https://npm.acme.example/npm/',
      'proxy=http://proxy.example:3128',
      'https-proxy=http://proxy.example:3128',
      'noproxy=localhost,.example.com',
      'cafile=/etc/ssl/acme.pem',
      'strict-ssl=true',
      'save-exact=true',
      'always-auth=true',
      '//npm.example.com/:always-auth=true',
      'public-hoist-pattern[]=*eslint*',
    );
    expect(filterNpmrc(kept)).toBe(kept);
  });

  it.each([
    '//registry.example.org/:_authToken=npm_secret',
    '//registry.example.org/:_authToken=${NPM_TOKEN}',
    '"//registry.example.org/:_authToken"="npm_secret"',
    '  //host:8080/npm/ : _authToken = npm_secret',
    '//host/:_password="c2VjcmV0"',
    '//host/:username=ada',
    '//host/:certfile=/home/ada/cert.pem',
    '//host/:keyfile=/home/ada/key.pem',
    '_auth=YWRhOnNlY3JldA==',
    '_auth = "YWRhOnNlY3JldA=="',
    '_authToken=npm_secret',
    '_password=secret',
    'email=ada@example.com',
    'key="-----BEGIN PRIVATE KEY-----\\nMIIE\\n-----END PRIVATE KEY-----"',
    'cert="-----BEGIN CERTIFICATE-----"',
    'otp=123456',
    '; //host/:_authToken=npm_secret',
    '# _auth=YWRhOnNlY3JldA==',
    'MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ==',
    '-----BEGIN PRIVATE KEY-----',
    'registry',
  ])('drops %s', (line) => {
    expect(filterNpmrc(lines('fund=false', line, 'audit=false'))).toBe(lines('fund=false', 'audit=false'));
  });

  it('removes credentials from addresses and comments after values', () => {
    expect(
      filterNpmrc('registry=https://ada:s3cr3t@npm.example.com/ ; token abc\nproxy=ada:s3cr3t@proxy:3128\r\n'),
    ).toBe(lines('registry=https://npm.example.com/', 'proxy=proxy:3128'));
  });
});

describe('filterPipConf', () => {
  it('removes user names and passwords from addresses, in continued values too', () => {
    const text = lines(
      '# index-url = https://ada:s3cr3t@old.example/simple',
      '[global]',
      'index-url = https://ada:s3cr3t@pypi.example/simple',
      'extra-index-url =',
      '    https://token@one.example/simple',
      '    https://two.example/simple',
      'proxy = ada:s3cr3t@proxy.example:3128',
      'client-cert = /home/ada/key.pem',
      'trusted-host = pypi.example',
      'timeout: 60',
    );
    expect(filterPipConf(text)).toBe(
      lines(
        '[global]',
        'index-url = https://pypi.example/simple',
        'extra-index-url =',
        '    https://one.example/simple',
        '    https://two.example/simple',
        'proxy = proxy.example:3128',
        'trusted-host = pypi.example',
        'timeout: 60',
      ),
    );
  });

  it('drops the continuation of a dropped value', () => {
    expect(filterPipConf('[a]\npassword =\n   secret\ntimeout = 1\n')).toBe(lines('[a]', 'timeout = 1'));
  });
});

describe('filterCargoConfig', () => {
  it('drops tokens in sections, dotted names, inline tables and several lines', () => {
    const text = lines(
      '[registries.acme]',
      'index = "sparse+https://ada:s3cr3t@crates.example/index/"',
      'token = "s3cr3t"',
      '"token" = "s3cr3t"',
      '[registry]',
      'token = """',
      's3cr3t"""',
      'credential-provider = [',
      '  "cargo:token-from-stdout", "s3cr3t"',
      ']',
      '[net]',
      'git-fetch-with-cli = true',
    );
    expect(filterCargoConfig(text)).toBe(
      lines(
        '[registries.acme]',
        'index = "sparse+https://crates.example/index/"',
        '[registry]',
        '[net]',
        'git-fetch-with-cli = true',
      ),
    );
    expect(filterCargoConfig('registries.acme.token = "s3cr3t"\n')).toBe('');
    expect(filterCargoConfig('[registries]\nacme = { index = "https://x/", token = "s3cr3t" }\n')).toBe(
      lines('[registries]', 'acme = { index = "https://x/", }'),
    );
  });
});

describe('filterGitConfig', () => {
  it('keeps the identity, and drops tokens, helpers and signing', () => {
    const text = lines(
      '[user]',
      '\tname = Ada',
      '\temail = ada@example.com',
      '[commit]',
      '\tgpgsign = true',
      '[credential "https://github.com"]',
      '\thelper = !gh auth git-credential',
      '[http "https://git.example"] extraHeader = Authorization: s3cr3t',
      '[url "https://s3cr3t@github.com/"]',
      '\tinsteadOf = https://github.com/',
      '[url "ssh://git@github.com/"]',
      '\tinsteadOf = gh:',
      '[sendemail]',
      '\tsmtpPass = one \\',
      '\t\ts3cr3t',
      '; token s3cr3t',
      '[alias]',
      '\tlg = log \\',
      '\t\t--graph',
    );
    expect(filterGitConfig(text)).toBe(
      lines(
        '[user]',
        '\tname = Ada',
        '\temail = ada@example.com',
        '[commit]',
        '[credential "https://github.com"]',
        '[http "https://git.example"]',
        '[url "https://github.com/"]',
        '\tinsteadOf = https://github.com/',
        '[url "ssh://git@github.com/"]',
        '\tinsteadOf = gh:',
        '[sendemail]',
        '[alias]',
        '\tlg = log \\',
        '\t\t--graph',
      ),
    );
  });
});

describe('every filter', () => {
  const secret = 's3cr3t';
  const lineOf: Readonly<Record<FilterName, readonly string[]>> = {
    npmrc: [`//h/:_authToken=${secret}`, `_auth=${secret}`, `registry=https://a:${secret}@h/`, `# ${secret}`],
    'pip.conf': [
      `index-url = https://a:${secret}@h/s`,
      `password = ${secret}`,
      `; ${secret}`,
      `  https://${secret}@h/`,
    ],
    'cargo config': [`token = "${secret}"`, `proxy = "http://a:${secret}@h:1"`, `r = { token = "${secret}" }`],
    'git config': [`[url "https://${secret}@h/"]`, `token = ${secret}`, `extraheader = x \\`, `# ${secret}`],
  };

  it.each(names)('%s: no secret survives, wherever it stands between other lines', (name) => {
    const other = fc.constantFrom('', '[a]', 'x=1', 'registry=https://h/', '  y = 2');
    const any = fc.array(fc.oneof(other, fc.constantFrom(...lineOf[name])), { maxLength: 12 });
    fc.assert(
      fc.property(any, fc.constantFrom('\n', '\r\n'), (all, end) => {
        expect(filterConfig(name, all.join(end))).not.toContain(secret);
      }),
    );
  });

  it.each(names)('%s: filtering twice changes nothing', (name) => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', '=', ' ', '\n', '[', ']', '/', ':', '@', '"', '#', '\\', '_') }),
        (text) => {
          const once = filterConfig(name, text);
          expect(filterConfig(name, once)).toBe(once);
        },
      ),
    );
  });

  it('removes passwords with @ and with an unescaped slash', () => {
    expect(withoutUserinfo('https://a:p@ss@h/x')).toBe('https://h/x');
    expect(withoutUserinfo('https://a:pa/s@h/x')).toBe('https://h/x');
    expect(withoutUserinfo('https://h:8080/@scope/x')).toBe('https://h:8080/@scope/x');
    expect(withoutUserinfo('https://[::1]:8080/@scope')).toBe('https://[::1]:8080/@scope');
    expect(withoutUserinfo('git@github.com:a/b')).toBe('git@github.com:a/b');
  });
});
