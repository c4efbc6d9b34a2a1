/** The name of a principal that a worker token is issued to. It is part of a file name. */
export function isPrincipalName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._@-]{0,63}$/.test(name);
}

export const PRINCIPAL_EXPECTED =
  'a principal has 1 to 64 characters (letters, digits, dot, dash, underscore, @), the first a letter or a digit';
