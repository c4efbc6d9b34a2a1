/**
 * The values of an environment that a ledger must never know: those whose names say that they are secret. What agents are given they
 * may print, and no pattern knows what a password looks like.
 */
export function findSecretValues(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  const secrets = Object.entries(env)
    .filter(([name]) => SECRET_NAME.test(name))
    .map(([, value = '']) => value.trim())
    .filter(isLongEnough);
  // The longest first: one that begins like another is taken out whole.
  return [...new Set(secrets)].toSorted((a, b) => b.length - a.length);
}

/** The name ends with it: `TOKEN_FILE` and `API_KEY_NAME` are none, and a mere `…_KEY` may be anything that is looked up. */
const SECRET_NAME =
  /(?:token|secret|passw(?:or)?d|passphrase|credentials?|(?:api|access|private|secret|signing|encryption|auth|master)_?key(?:_base)?)$/i;

/** A plain word or number (`DB_PASSWORD=postgres`) would be missing from innocent text; a path or an address says where a secret is. */
function isLongEnough(value: string): boolean {
  if (value.length < SHORT || /^(?:[~.]{0,2}\/|[A-Za-z]:\\|\w+:\/\/)/.test(value)) return false;
  const isPlain = /^(?:[A-Za-z]+|\d+|[a-z]+(?:[-_ ][a-z]+)*)$/.test(value);
  return !isPlain || value.length >= LONG;
}

const SHORT = 8;
const LONG = 20;
