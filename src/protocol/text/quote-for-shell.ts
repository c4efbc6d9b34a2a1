/** Quotes a word with single quotes: a POSIX shell reads it unchanged, whatever it contains. */
export function quoteForShell(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** Quotes a word for a command that people read and type, but only if a shell would split or expand it. */
export function shellWord(word: string): string {
  return /^[\w./@%+=:,-]+$/.test(word) ? word : quoteForShell(word);
}
