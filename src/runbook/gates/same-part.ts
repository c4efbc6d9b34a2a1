import { parse } from 'smol-toml';

/**
 * Compares one part of two versions of a JSON or TOML file, by its dotted key. A version that cannot be read is different: nothing
 * shows that the part is the same.
 */
export function isSamePart(before: string, after: string, key: string, path: string): boolean {
  const [was, is] = [partOf(before, key, path), partOf(after, key, path)];
  return was !== undefined && was === is;
}

/** The part as text, with the names of objects sorted; undefined if the file cannot be read. */
function partOf(text: string, key: string, path: string): string | undefined {
  try {
    let found: unknown = path.toLowerCase().endsWith('.toml') ? parse(text) : JSON.parse(text);
    for (const name of key.split('.')) found = isTable(found) && Object.hasOwn(found, name) ? found[name] : null;
    return JSON.stringify(sorted(found));
  } catch {
    return undefined;
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isTable(value)) return typeof value === 'bigint' ? String(value) : value;
  return Object.fromEntries(Object.keys(value).sort().map((name) => [name, sorted(value[name])])); // prettier-ignore
}

function isTable(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
