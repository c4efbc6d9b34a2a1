import { BATON_TOKEN } from '../protocol/redact-tokens.ts';
import type { Json, JsonObject } from './format/canonical-json.ts';

/** Reports whether text needs the slow redaction: a million harmless entries must not run twenty patterns each. */
export function mayHoldCredential(text: string, secrets: readonly string[] = []): boolean {
  for (const start of MAYBE_CREDENTIAL) if (start.test(text)) return true;
  for (const form of formsInJson(secrets)) if (text.includes(form)) return true;
  return false;
}

/** Replaces credentials, and the `secrets` that the caller found in the environment of its agents. */
export function redactJson(value: JsonObject, secrets: readonly string[] = []): JsonObject {
  // `fromEntries` defines fields instead of assigning them: a field may be called __proto__.
  return Object.fromEntries(
    Object.entries(value).map(([key, child]) => [
      redactText(key, secrets),
      typeof child === 'string' && SECRET_FIELD.test(key) && !VARIABLE_REFERENCE.test(child)
        ? '[redacted:field]'
        : redactValue(child, secrets),
    ]),
  );
}

export function redactText(text: string, secrets: readonly string[] = []): string {
  let clean = text;
  const isProse = secrets.length > 0 && PROSE.test(text);
  for (const secret of secrets) {
    if (KEY.test(secret)) clean = clean.replaceAll(secret, '[redacted:secret]');
    else if (isProse) clean = removeSecret(secret, clean);
  }
  for (const { name, pattern } of CREDENTIAL_PATTERNS) {
    clean = clean.replace(pattern, (match: string, group: unknown) => {
      const kept = typeof group === 'string' ? group : '';
      return VARIABLE_REFERENCE.test(match.slice(kept.length)) ? match : `${kept}[redacted:${name}]`;
    });
  }
  return clean;
}

function redactValue(value: Json, secrets: readonly string[]): Json {
  if (typeof value === 'string') return redactText(value, secrets);
  if (typeof value !== 'object' || value === null) return value;
  return isArray(value) ? value.map((item) => redactValue(item, secrets)) : redactJson(value, secrets);
}

function isArray(value: readonly Json[] | JsonObject): value is readonly Json[] {
  return Array.isArray(value);
}

/**
 * A secret that is an ordinary word is replaced only in prose; in ids, branches and paths that would change the
 * meaning.
 */
const PROSE = /[\s="'`]/;
/** Long mixed-case keys cannot be words or ids, so they are replaced everywhere, even inside a longer word. */
const KEY = /^(?=.*[A-Z])(?=.*[a-z])[A-Za-z0-9+/_-]{40,}$/;

function removeSecret(secret: string, text: string): string {
  let clean = text;
  // The text may itself be JSON with escaped quotes.
  for (const form of new Set([secret, escaped(secret)])) {
    if (!clean.includes(form)) continue;
    const pattern = new RegExp(`(?<![\\w/-])${RegExp.escape(form)}(?![\\w/-]|\\.\\w)`, 'g');
    clean = clean.replace(pattern, '[redacted:secret]');
  }
  return clean;
}

/** Cached per list, because every entry is searched. */
const inJson = new WeakMap<readonly string[], readonly string[]>();

function formsInJson(secrets: readonly string[]): readonly string[] {
  const known = inJson.get(secrets);
  if (known !== undefined) return known;
  const forms = secrets.map(escaped);
  inJson.set(secrets, forms);
  return forms;
}

/** Quotes and newlines in a secret are escaped in JSON text. */
function escaped(secret: string): string {
  return /["\\\p{Cc}]/u.test(secret) ? JSON.stringify(secret).slice(1, -1) : secret;
}

/** Returns the values of environment variables with secret names. No pattern recognises a password. */
export function findSecretValues(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const secrets = Object.entries(env)
    .filter(([name]) => SECRET_NAME.test(name))
    .map(([, value = '']) => value.trim())
    .filter(isLongEnough);
  // Longest first, so that a secret that starts with another one is replaced whole.
  return [...new Set(secrets)].toSorted((a, b) => b.length - a.length);
}

/** The name must end with the word: `TOKEN_FILE` holds no secret, and `…_KEY` may be a lookup key. */
const SECRET_NAME =
  /(?:token|secret|passw(?:or)?d|passphrase|credentials?|(?:api|access|private|secret|signing|encryption|auth|master)_?key(?:_base)?)$/i;

/** Removing a plain word or number would damage innocent text; a path or URL only names a location. */
function isLongEnough(value: string): boolean {
  if (value.length < SHORT || /^(?:[~.]{0,2}\/|[A-Za-z]:\\|\w+:\/\/)/.test(value)) return false;
  const isPlain = /^(?:[A-Za-z]+|\d+|[a-z]+(?:[-_ ][a-z]+)*)$/.test(value);
  return !isPlain || value.length >= LONG;
}

const SHORT = 8;
const LONG = 20;

/**
 * Patterns of credentials. Every pattern is linear: a fixed beginning, then one bounded character class. Few require a
 * word boundary, because terminal colours (`[1m`) may precede a credential. The first group stays in the text: it names
 * the kind of value without revealing it.
 */

export const CREDENTIAL_PATTERNS: readonly { readonly name: string; readonly pattern: RegExp }[] = [
  {
    name: 'private-key',
    pattern: /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[^-]*(?:-----END [A-Z0-9 ]{0,48}-----)?/g,
  },
  { name: 'aws-access-key', pattern: /(?:AKIA|ASIA|AGPA|AROA|AIDA)[A-Z0-9]{16}(?![A-Za-z0-9])/g },
  { name: 'github-token', pattern: /gh[pousr]_[A-Za-z0-9]{36,255}/g },
  { name: 'github-pat', pattern: /github_pat_[A-Za-z0-9_]{22,255}/g },
  { name: 'gitlab-token', pattern: /gl(?:pat|ptt|rt|dt|cbt|soat)-[A-Za-z0-9_-]{20,255}/g },
  { name: 'anthropic-key', pattern: /sk-ant-[A-Za-z0-9_-]{20,255}/g },
  { name: 'openai-key', pattern: /sk-(?:proj-|svcacct-|admin-)[A-Za-z0-9_-]{20,255}/g },
  { name: 'openai-key', pattern: /(?:(?<![A-Za-z0-9])|(?<=\[[\d;]{0,16}m))sk-[A-Za-z0-9]{20,255}/g },
  { name: 'google-key', pattern: /AIza[A-Za-z0-9_-]{35}/g },
  { name: 'google-oauth', pattern: /ya29\.[A-Za-z0-9_-]{20,512}/g },
  { name: 'slack-token', pattern: /xox[abeoprs]-[A-Za-z0-9-]{10,255}/g },
  { name: 'slack-webhook', pattern: /hooks\.slack\.com\/services\/[A-Za-z0-9/]{20,128}/g },
  { name: 'stripe-key', pattern: /[rs]k_(?:live|test)_[A-Za-z0-9]{16,255}/g },
  { name: 'npm-token', pattern: /npm_[A-Za-z0-9]{36}/g },
  { name: 'pypi-token', pattern: /pypi-[A-Za-z0-9_-]{32,512}/g },
  { name: 'sendgrid-key', pattern: /SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,128}/g },
  { name: 'huggingface-token', pattern: /(?:(?<![A-Za-z0-9])|(?<=\[[\d;]{0,16}m))hf_[A-Za-z0-9]{30,64}/g },
  { name: 'baton-token', pattern: /baton_[a-z]{1,16}_[A-Za-z0-9_-]{20,255}/g },
  {
    name: 'json-web-token',
    pattern: /eyJ[A-Za-z0-9_-]{10,512}\.eyJ[A-Za-z0-9_-]{4,8192}\.[A-Za-z0-9_-]{0,1024}/g,
  },
  { name: 'baton-token', pattern: BATON_TOKEN },
  {
    name: 'authorization',
    pattern:
      /(authorization["']?[ \t]{0,4}[:=][ \t]{0,4}["']?(?:(?:bearer|basic|token)[ \t]{1,4})?)(?!\[|(?:bearer|basic|token)[ \t]{1,4}\[)[^\s"',;]{6,4096}/gi,
  },
  // `bearer` is also an English word, so the token must contain a digit.
  {
    name: 'bearer-token',
    pattern: /(bearer[ \t]{1,4})(?=[^\s"',;]{0,64}\d)[A-Za-z0-9+/._~-]{16,4096}={0,2}/gi,
  },
  { name: 'url-password', pattern: /(:\/\/[^\s:@/"']{0,128}:)[^\s@/"']{1,256}(?=@)/g },
  {
    name: 'assignment',
    pattern:
      /((?:passw(?:or)?d|secret|token|(?:api|access|private|secret)[_-]?key)["']?[ \t]{0,4}[=:][ \t]{0,4}["']?)(?!\[)[^\s"',;)}\]]{8,512}/gi,
  },
];

const SECRET_FIELD =
  /^(?:password|passwd|secret|token|api_?key|access_?token|refresh_?token|client_?secret|private_?key|authorization|cookie)$/i;

/** `$NAME` or `${env.NAME}` refers to a secret without containing it. */
const VARIABLE_REFERENCE = /^\$(?:\{[\w.]{1,80}\}?|[A-Z_][A-Z0-9_]{0,80})$/;

/** The start of any credential. Each pattern finds an uncommon character and looks backwards, which is fast. */
const MAYBE_CREDENTIAL: readonly RegExp[] = [
  /[_-](?<=(?:gh[pousr]|github_pat|npm|baton|[rs]k_(?:live|test)|(?:^|[^a-ln-z0-9]|\\[bfnrt]|\\u00..)hf)_|(?:gl(?:pat|ptt|rt|dt|cbt|soat)|(?:^|[^a-ln-z0-9]|\\[bfnrt]|\\u00..)sk|pypi|xox[abeoprs]|private key(?: block)?)-)/i,
  /[=:](?<=(?:passw(?:or)?d|secret|token|(?:api|access|private|secret)[_-]?key|authorization|cookie)["'\\]{0,3}[ \t]{0,4}[=:])/i,
  /[.@](?<=ya29\.|SG\.|hooks\.|:\/\/[^"\s]{0,400}@)|A(?:KIA|SIA|GPA|ROA|IDA|Iza)|%2[Ee]|\\u002[Ee]|\.(?:eyJ|[A-Za-z0-9_-]{24})/,
  /[Bb]earer[ \\]|BEARER[ \\]/,
];
