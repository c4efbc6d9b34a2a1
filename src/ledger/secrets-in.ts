/**
 * The values of an environment that a ledger must never know: those whose names say that they are secret. What agents are given they
 * may print, and no pattern knows what a password looks like.
 */
export function secretsIn(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const secrets = Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && SECRET_NAME.test(name) && isTelling(value) ? [value] : [],
  );
  // The longest first: one that begins like another is taken out whole.
  return [...new Set(secrets)].toSorted((a, b) => b.length - a.length);
}

const SECRET_NAME = /token|secret|passw(?:or)?d|passphrase|credential|api_?key|(?:^|_)(?:key|pat|pass)(?:_|$)/i;

/** A plain word or number (`DB_PASSWORD=postgres`) would be missing from innocent text; a path or an address says where a secret is. */
function isTelling(value: string): boolean {
  if (/^(?:[~.]{0,2}\/|[A-Za-z]:\\|https?:\/\/)/.test(value)) return false;
  return value.length >= LONG || (value.length >= SHORT && /[A-Za-z]/.test(value) && /\d/.test(value));
}

const SHORT = 8;
const LONG = 16;
