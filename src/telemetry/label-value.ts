const NO_VALUE = 'none';
export const OTHER_VALUE = 'other';

/**
 * Allows only values in the form of a runbook's name: roles and labels of sessions may be any text, and texts must not
 * leave the ledger.
 */
export function labelValue(name: string | null | undefined): string {
  if (name === null || name === undefined || name === '') return NO_VALUE;
  return /^[A-Za-z0-9][A-Za-z0-9_.:-]{0,63}$/.test(name) ? name : OTHER_VALUE;
}
