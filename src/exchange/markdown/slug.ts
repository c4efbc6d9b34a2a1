/** An id made of a title: it stays the same when the list is put into another order. */
export function idOfTitle(title: string): string {
  const plain = title.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const words = plain.replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '');
  const short = words.length <= LONGEST ? words : words.slice(0, LONGEST).replace(/-[^-]*$/, '');
  return short === '' ? `task-${fingerprint(title)}` : short;
}

const LONGEST = 48;

/** FNV-1a, for titles in a script that has no letters in ids. */
function fingerprint(text: string): string {
  let hash = 0x811c9dc5;
  for (const character of text) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), 0x01000193) >>> 0;
  return hash.toString(16).padStart(8, '0');
}
