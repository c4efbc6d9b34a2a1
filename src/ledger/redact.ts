import type { Json, JsonObject } from './format/canonical-json.ts';
import { CREDENTIAL_PATTERNS, MAYBE_CREDENTIAL, VARIABLE_REFERENCE, SECRET_FIELD } from './credential-patterns.ts';

/**
 * Whether canonical text is worth the slow look. A ledger cannot forget, so it must never know; but a million harmless
 * entries must not pay for twenty patterns each.
 */
export function mayHoldCredential(text: string, secrets: readonly string[] = []): boolean {
  for (const start of MAYBE_CREDENTIAL) if (start.test(text)) return true;
  for (const form of formsInJson(secrets)) if (text.includes(form)) return true;
  return false;
}

/** Replaces what looks like a credential, and the `secrets` that the caller knows (the environment it passes on). */
export function redactJson(value: JsonObject, secrets: readonly string[] = []): JsonObject {
  // fromEntries defines fields instead of assigning them: a field may be called __proto__.
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
 * A known secret may be a word like any other, and only where people and agents write is it one that must go: an id, a branch, a path or a
 * key that it was taken out of would be another one. Those are one word, or it is a part of a longer one there.
 */
const PROSE = /[\s="'`]/;

/** No word, and no id of anything: it goes wherever it stands, also inside of a longer word. */
const KEY = /^(?=.*[A-Z])(?=.*[a-z])[A-Za-z0-9+/_-]{40,}$/;

function removeSecret(secret: string, text: string): string {
  let clean = text;
  // Text may itself be JSON, in which it has its quotes escaped.
  for (const form of new Set([secret, escaped(secret)])) {
    if (!clean.includes(form)) continue;
    const pattern = new RegExp(`(?<![\\w/-])${RegExp.escape(form)}(?![\\w/-]|\\.\\w)`, 'g');
    clean = clean.replace(pattern, '[redacted:secret]');
  }
  return clean;
}

/** Made once for each list: every entry is searched for them. */
const inJson = new WeakMap<readonly string[], readonly string[]>();

function formsInJson(secrets: readonly string[]): readonly string[] {
  const known = inJson.get(secrets);
  if (known !== undefined) return known;
  const forms = secrets.map(escaped);
  inJson.set(secrets, forms);
  return forms;
}

/** A secret with quotes or newlines in it stands in JSON text with backslashes. */
function escaped(secret: string): string {
  return /["\\\p{Cc}]/u.test(secret) ? JSON.stringify(secret).slice(1, -1) : secret;
}
