import { matchesGlob } from './match-path.ts';

/** The path of an agent that a client can start by name: a text for a model, below fields of settings. */
export function mayBeAgentText(path: string): boolean {
  return matchesGlob('**/.claude/agents/**', path) && /\.md$/i.test(path);
}

/**
 * Reports whether the file of an agent only instructs a model, as `AGENTS.md` does: its fields give it a name and a
 * model, and no tools, permissions, hooks or servers. A missing file is such a text.
 */
export function isAgentText(path: string, text: string | null | undefined): boolean {
  if (!mayBeAgentText(path) || text === undefined) return false;
  if (text === null) return true;
  const [, fields] = /^---\n((?:[^\n]*\n)*?)---\n/.exec(text) ?? [];
  return fields !== undefined && fields.split('\n').slice(0, -1).every(isPlainField);
}

/** A field on a line of its own, which every reader of YAML reads alike. */
function isPlainField(line: string): boolean {
  return /^(?:name|description|model|color): [\p{L}\p{N}][^\p{Cc}\u{2028}\u{2029}\u{FEFF}#]*$/u.test(line);
}
