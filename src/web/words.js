/**
 * Text from agents, for people: characters that are not seen or that change how other text is shown (control characters, marks of direction,
 * characters without width) become codes, as in the CLI. Lines and tabs stay.
 */
export function visible(text) {
  return String(text).replace(/[^\P{C}\t\n]|[\u2028\u2029]/gu, (character) => {
    const code = character.codePointAt(0);
    return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

/** The only way in which text gets into the page: isolated, so that it cannot turn around what stands beside it, and never as markup. */
export function words(text) {
  const made = document.createElement('bdi');
  made.textContent = visible(text);
  return made;
}

export function part(name, text, className = '') {
  const made = document.createElement(name);
  made.append(words(text));
  made.className = className;
  return made;
}
