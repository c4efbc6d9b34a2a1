/** Replaces invisible and bidi control characters of untrusted text with codes, as the CLI does. Lines and tabs stay. */
export function visible(text) {
  return String(text).replace(/[^\P{C}\t\n]|[\u2028\u2029]/gu, (character) => {
    const code = character.codePointAt(0);
    return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

/** All text enters the page here: never as markup, and isolated, so that its direction does not affect its neighbours. */
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
