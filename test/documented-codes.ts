import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';

/** The codes that docs/errors.md explains. */
export const DOCUMENTED_CODES: ReadonlySet<string> = new Set(
  [...readFileSync(join(import.meta.dirname, '../docs/errors.md'), 'utf8').matchAll(/^\| (`[^|]+`) \|/gm)].flatMap(
    ([, cell = '']) => cell.split(', ').map((code) => code.replaceAll('`', '')),
  ),
);

/** Throws if a command printed an error whose code docs/errors.md does not explain. Every helper of the tests that runs commands calls it. */
export function requireDocumentedCodes(argv: readonly string[], { out, err }: { out: string; err: string }): void {
  const unknown = findUndocumentedCodes(out, err);
  if (unknown.length > 0) throw new Error(`baton ${argv.join(' ')}: not in docs/errors.md: ${unknown.join(', ')}`);
}

export function findUndocumentedCodes(out: string, err: string): string[] {
  const lines = stripVTControlCharacters(err).matchAll(/^Error: .* \[([a-z][a-z0-9/-]*)\]$/gm);
  const documents = out.matchAll(/^\{"error":\{"code":"([^"]*)"/gm);
  return [...lines, ...documents].map(([, code = '']) => code).filter((code) => !DOCUMENTED_CODES.has(code));
}
