import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalJson } from './format/canonical-json.ts';
import { CREDENTIAL_PATTERNS, mayHoldCredential, redactJson, redactText } from './redact.ts';

/**
 * One invented credential for each pattern. They are assembled here, so that no scanner reports this file as a leak.
 */
const SAMPLES: readonly (readonly [name: string, credential: string])[] = [
  [
    'private-key',
    glue('-----BEGIN OPENSSH PRIVATE', ' KEY', '-----\nb3BlbnNzaA\n-----END OPENSSH PRIVATE', ' KEY', '-----'),
  ],
  ['private-key', glue('-----BEGIN PGP PRIVATE', ' KEY', ' BLOCK-----\n\nlQdG\n')],
  ['aws-access-key', glue('AKIA', 'IOSFODNN7EXAMPLE')],
  ['github-token', glue('ghp_', 'a1B2'.repeat(9))],
  ['github-token', glue('ghs_', 'a1B2'.repeat(9))],
  ['github-pat', glue('github_pat_', '11ABC_'.repeat(6))],
  ['gitlab-token', glue('glpat-', 'x1Y2'.repeat(5))],
  ['anthropic-key', glue('sk-ant-', 'api03-', 'Ab1_'.repeat(8))],
  ['openai-key', glue('sk-proj-', 'Ab1_'.repeat(8))],
  ['openai-key', glue('sk-', 'Ab1c'.repeat(8))],
  ['google-key', glue('AIza', 'Sy1-a'.repeat(7))],
  ['google-oauth', glue('ya29.', 'a0Af'.repeat(8))],
  ['slack-token', glue('xoxb-', '123456789012-abc')],
  ['slack-webhook', glue('hooks.slack.com/services/', 'T00000000/B00000000/XXXXXXXX')],
  ['stripe-key', glue('sk_live_', '4eC3'.repeat(6))],
  ['npm-token', glue('npm_', 'a1B2'.repeat(9))],
  ['pypi-token', glue('pypi-', 'AgEI'.repeat(10))],
  ['sendgrid-key', glue('SG.', 'a1B2'.repeat(5), '.', 'c3D4'.repeat(10))],
  ['huggingface-token', glue('hf_', 'aBcD'.repeat(8))],
  ['baton-token', glue('baton_session_', 'a1B2'.repeat(6))],
  ['json-web-token', glue('eyJ', 'hbGciOiJIUzI1NiJ9', '.eyJ', 'zdWIiOiIxMjM0NTY3ODkwIn0', '.', 'dozjgNryP4J3jVmN')],
  ['authorization', glue('Authorization: Basic ', 'dXNlcjpwYXNz')],
  ['bearer-token', glue('bearer ', 'mF_9.B5f-4.1JqM', '9zzzz')],
  ['url-password', glue('postgres://baton:', 'correct-horse', '@db.example/baton')],
  ['assignment', glue('DB_PASSWORD=', 'correct-horse')],
  ['assignment', glue('"api_key": "', 'correct-horse', '"')],
];

describe('redaction', () => {
  it('has a sample for every pattern', () => {
    const names = new Set(SAMPLES.map(([name]) => name));
    expect(CREDENTIAL_PATTERNS.map(({ name }) => name).filter((name) => !names.has(name))).toEqual([]);
  });

  it.each(SAMPLES)('removes a %s', (name, credential) => {
    for (const around of ['%', 'a %', '%\nb', 'line\n%\tend', '\u001b[1m%', 'see: "%",', '(%)']) {
      const text = around.replace('%', credential);
      const json = canonicalJson({ log: [text] });
      expect(json.ok && mayHoldCredential(json.value)).toBe(true);
      const clean = redactText(text);
      expect(clean).toContain(`[redacted:${name}]`);
      expect(clean.length).toBeLessThan(text.length + 30);
      expect(secretPart(credential).filter((part) => clean.includes(part))).toEqual([]);
      expect(redactText(clean)).toBe(clean);
    }
  });

  it('keeps text that only names a secret, as commands and templates do', () => {
    const command = `curl -H "authorization: Bearer $API_TOKEN" -d password=\${env.PASSWORD} https://x`;
    expect(redactText(command)).toBe(command);
    const env = { token: '${env.GH_TOKEN}', API_KEY: '$KEY', password: glue('$', 'ecret-and-more') };
    expect(redactJson(env)).toEqual({ ...env, password: '[redacted:field]' });
    expect(redactText(glue('password=$', 'ecret-and-more'))).toBe('password=[redacted:assignment]');
  });

  it('keeps the text that names the kind of value', () => {
    expect(redactText('postgres://baton:correct-horse@db/x')).toBe('postgres://baton:[redacted:url-password]@db/x');
    expect(redactText('export API_KEY="correct-horse" # old')).toBe('export API_KEY="[redacted:assignment]" # old');
  });

  it.each([
    'commit 0123456789abcdef0123456789abcdef01234567',
    'task-12 and risk-free, src/sk-thing.ts',
    'spent 12345678 tokens: 12345678',
    'https://example.org/a/b?c=d#e',
    'git@github.com:owner/name.git',
    'the bearer of this message',
    'basic authentication and authorization',
    'sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef',
    'the secret of good code is no secret',
  ])('leaves %s alone', (text) => {
    expect(redactText(text)).toBe(text);
  });

  it('empties fields that are secrets by their name, and walks lists and objects', () => {
    const data = { headers: [{ Authorization: 'x' }, { password: 'short', tokens: 5 }], token: null };
    expect(redactJson(data)).toEqual({
      headers: [{ Authorization: '[redacted:field]' }, { password: '[redacted:field]', tokens: 5 }],
      token: null,
    });
  });

  it('removes known secrets with quotes and newlines', () => {
    const secret = 'quo"te\nline';
    const json = canonicalJson({ a: `x${secret}y` });
    expect(json.ok && mayHoldCredential(json.value, [secret])).toBe(true);
    expect(redactJson({ a: `It is ${secret}.`, log: `said ${JSON.stringify({ secret })}` }, [secret])).toEqual({
      a: 'It is [redacted:secret].',
      log: 'said {"secret":"[redacted:secret]"}',
    });
  });

  it('searches known secrets in prose, and keeps ids, branches, paths and longer words', () => {
    const secret = 'shop2024';
    for (const text of [
      'shop2024',
      'shop2024-1',
      '/home/ada/my shop2024/x y',
      'in src/shop2024',
      'the shop2024s',
      'a b shop2024.ts',
    ])
      expect([text, redactText(text, [secret])]).toEqual([text, text]);
    for (const text of ['pw shop2024', 'pw=shop2024, and more', 'pw "shop2024".', '(pw shop2024)', 'pw\nshop2024'])
      expect(redactText(text, [secret])).toBe(text.replace(secret, '[redacted:secret]'));
  });

  it('changes nothing the second time', () => {
    const heads = [
      'Authorization: Bearer $NAME$NAME2345',
      'authorization=token $A$BCDEFGH',
      'bearer $x1 abcdefgh12345678',
    ];
    for (const text of [...SAMPLES.map(([, sample]) => sample), ...heads]) {
      const once = redactText(`${text} and ${text}`);
      expect(redactText(once)).toBe(once);
    }
  });

  it('keeps a field called __proto__', () => {
    const clean = redactJson(JSON.parse('{"__proto__": "glpat-aaaaaaaaaaaaaaaaaaaaaaaa"}'));
    expect(Object.entries(clean)).toEqual([['__proto__', '[redacted:gitlab-token]']]);
  });

  it('takes linear time', () => {
    const starts = SAMPLES.map(([, credential]) => credential.slice(0, 12));
    const parts = starts.concat(
      ['://', 'a:', 'sk-', 'eyJ', 'eyJa.', '-----BEGIN ', '-----BEGIN PRIVATE KEY-----', '\\u00', 'bearer '],
      ['authorization:', 'password=', 'token"', 'A', '_', '-', ' ', '@', '\\', '[1m', '[1;'],
    );
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...parts), { minLength: 1, maxLength: 4 }), (seed) => {
        const text = seed.join('').repeat(100_000).slice(0, 256_000);
        const before = performance.now();
        mayHoldCredential(text);
        redactText(text);
        // A quadratic pattern takes minutes for this; a linear one some milliseconds, even on a busy machine.
        expect(performance.now() - before).toBeLessThan(10_000);
      }),
      { numRuns: 50 },
    );
  }, 120_000);
});

function glue(...parts: string[]): string {
  return parts.join('');
}

/** The parts of a sample that must be redacted: its longer words, without the names around them. */
function secretPart(credential: string): string[] {
  return credential
    .split(/[\s"]/)
    .filter((part) => part.length >= 12 && !/^(?:-----|postgres|DB_|Authorization|PRIVATE|hooks)/.test(part));
}
