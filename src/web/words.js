/**
 * Makes invisible characters in text of agents visible: control characters, direction marks and zero-width characters become codes, as in the CLI.
 * Line breaks and tabs stay.
 */
export function visible(text) {
  return String(text).replace(/[^\P{C}\t\n]|[\u2028\u2029]/gu, (character) => {
    const code = character.codePointAt(0);
    return code > 0xffff ? `\\u{${code.toString(16)}}` : `\\u${code.toString(16).padStart(4, '0')}`;
  });
}

/** The daemon's words for a session without a sandbox. */
export const NO_SANDBOX = 'no sandbox';

/** All text enters the page here: isolated, so that it cannot reorder the text beside it, and never as markup. */
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
