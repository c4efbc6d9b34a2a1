import { createHash } from 'node:crypto';

/**
 * Replaces what differs between two recordings of the same commands: ids, hashes, keys, dates and the names of
 * temporary folders. Each replacement is as long as the original, which preserves the layout of lines and the offsets
 * of parts.
 */
export function normalize(output: string): string {
  const [first = ''] = (output.match(DATE) ?? []).toSorted();
  return replaceIds(output)
    .replaceAll(DATE, (date) => new Date(EPOCH + Date.parse(date) - Date.parse(first)).toISOString())
    .replaceAll(/\b\d{4}-\d\d-\d\dT…/g, `${new Date(EPOCH).toISOString().slice(0, 11)}…`)
    .replaceAll(KEYS, (key) => digest('key', 'base64').replace('=', '').repeat(2).slice(0, key.length))
    .replaceAll(FOLDERS, '$1a1B2c3');
}

const EPOCH = Date.parse('2026-01-02T10:00:00.000Z');
const DATE = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g;
const KEYS = /(?<=\+)[A-Za-z0-9+/]{43,}=*/g;
const FOLDERS = /(\/baton-[a-z]+-)\w{6}(?!\w)/g;
/** Ids of agents, decisions, projects and commits: the whole id, or the prefix that a list shows. */
const IDS = /(?<!\w)(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{7,64})(?!\w)/g;

/** Replaces the n-th id by the same digits in every recording, wherever it or its prefix occurs. */
function replaceIds(output: string): string {
  const bare = (output.match(IDS) ?? []).map(withoutDashes);
  const wholeOf = (id: string): string =>
    bare
      .filter((other) => other.startsWith(id))
      .toSorted(byLength)
      .at(-1) ?? id;
  const wholes = [...new Set(bare.map(wholeOf))];
  return output.replaceAll(IDS, (id) => {
    const whole = wholeOf(withoutDashes(id));
    // Digits alone are a number, and letters alone a word, unless a longer id starts with them.
    if (whole === id && !(/\d/.test(id) && /[a-f]/.test(id))) return id;
    const digits = digest(`id ${wholes.indexOf(whole)}`, 'hex');
    let next = 0;
    return id.replaceAll(/[0-9a-f]/g, () => digits.charAt(next++));
  });
}

function withoutDashes(id: string): string {
  return id.replaceAll('-', '');
}

function byLength(a: string, b: string): number {
  return a.length - b.length;
}

function digest(text: string, encoding: 'hex' | 'base64'): string {
  return createHash('sha256').update(text).digest(encoding);
}
