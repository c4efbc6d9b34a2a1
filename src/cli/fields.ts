import { printable } from './text.ts';

/** The fields of a result, each as text that is safe to print. */
export function printableFields(result: unknown): Record<string, string> {
  if (typeof result !== 'object' || result === null) return {};
  return Object.fromEntries(Object.entries(result).map(([name, value]) => [name, printable(String(value))]));
}
