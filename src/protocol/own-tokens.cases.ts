import * as fc from 'fast-check';

const base64url = (min: number, max: number): fc.Arbitrary<string> =>
  fc.uint8Array({ minLength: min, maxLength: max }).map((bytes) => Buffer.from(bytes).toString('base64url'));

/** 32 random bytes, like secrets and HMACs; it is practically certain that they contain letters of both cases. */
const secret = base64url(32, 32).filter((text) => /[a-z]/.test(text) && /[A-Z]/.test(text));

const payload = fc
  .record({ p: fc.string(), s: fc.uuid(), t: fc.string({ maxLength: 64 }), e: fc.nat() })
  .map((claim) => Buffer.from(JSON.stringify(claim)).toString('base64url'));

/**
 * A token of each kind: the operator's, the workers' and the metrics' plain ones, and the signed ones of sessions,
 * agents, supervisors and workers.
 */
export const anyToken: fc.Arbitrary<string> = fc.oneof(
  fc.tuple(fc.constantFrom('m', 'o', 'w'), secret).map((parts) => parts.join('.')),
  fc.tuple(fc.constantFrom('s', 'a', 'v', 'w'), payload, secret).map((parts) => parts.join('.')),
);

type Embedding = (token: string) => string;

/** Contexts in which programs write a token: a sentence, a header, a variable, a URL, JSON, JSON inside JSON. */
const FORMS: readonly Embedding[] = [
  (token) => token,
  (token) => `Authorization: Bearer ${token}`,
  (token) => `curl -H 'authorization:Bearer ${token}' http://127.0.0.1:1/v1/task_get`,
  (token) => `BATON_TOKEN=${token}`,
  (token) => `export BATON_TOKEN="${token}"; baton task list`,
  (token) => `http://127.0.0.1:4711/?token=${encodeURIComponent(token)}#x`,
  (token) => `http%3A%2F%2F127.0.0.1%2F%3Ftoken%3D${token.replaceAll('.', '%2E')}%26b`,
  (token) => JSON.stringify({ env: { BATON_TOKEN: token } }),
  (token) => JSON.stringify(JSON.stringify({ line: `first\n${token}\nthird` })),
  (token) => JSON.stringify(`x\n${token}\t`).replaceAll('=', String.raw`\u003d`),
  (token) => token.replaceAll('.', String.raw`\u002e`),
  (token) => `\u001b[1m${token}\u001b[0m`,
  (token) => `<handoff><notes>${token}</notes></handoff>`,
  (token) => `(${token}), and ${token}.`,
];

/** One of those contexts, or two nested ones, with any text around them. */
export const anyEmbedding: fc.Arbitrary<Embedding> = fc
  .tuple(
    fc.constantFrom(...FORMS),
    fc.string({ unit: 'grapheme', maxLength: 30 }),
    fc.constantFrom(' ', '\n', '"', "'", '=', ':', ',', '(', '\t', '>', '|', '`'),
    fc.constantFrom(' ', '\n', '"', "'", '&', ',', ')', '.', '<', ';', ''),
    fc.string({ unit: 'grapheme', maxLength: 30 }).map((text) => text.replace(/^[\w-]+/, '')),
  )
  .map(
    ([form, before, left, right, after]) =>
      (token) =>
        `${before}${left}${form(token)}${right}${after}`,
  );
