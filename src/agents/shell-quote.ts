/** One word for a shell, whatever is in it. */
export function shellQuote(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** As people would write it: in quotes only where a shell would take it apart. */
export function shellWord(text: string): string {
  return /^[\w./@%+=:,-]+$/.test(text) ? text : shellQuote(text);
}
