import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseEntry, renderEntry, type Entry } from './entry.ts';

const entry: Entry = {
  v: 1,
  project: 'demo',
  seq: 2,
  prev: 'ab'.repeat(32),
  at: '2026-01-01T00:00:00.000Z',
  actor: 'operator:ada',
  type: 'TaskClaimed',
  cause: 1,
  data: { task_id: 'T001', note: 'grüße\n' },
};

describe('an entry', () => {
  it('is written in canonical order and read back', () => {
    const text = renderEntry(entry);
    expect(text.startsWith('{"actor":"operator:ada","at":"2026-01-01T00:00:00.000Z","cause":1,"data":{')).toBe(true);
    expect(parse(text)).toEqual({ ok: true, value: entry });
  });

  it.each<[string, (text: string) => string]>([
    ['spaces', (text) => text.replace(',"at"', ', "at"')],
    ['another order', (text) => text.replace('"v":1}', '"a":1,"v":1}').replace('"a":1,"v":1', '"v":1,"a":1')],
    ['an unknown field', (text) => text.replace('"v":1}', '"v":1,"x":1}')],
    ['a missing field', (text) => text.replace('"cause":1,', '')],
    ['a field twice', (text) => text.replace('"cause":1,', '"cause":1,"cause":1,')],
    ['an odd escape', (text) => text.replace('T001', '\\u0054001')],
    ['capital hex', (text) => text.replace('abab', 'ABAB')],
    ['another version', (text) => text.replace('"v":1', '"v":2')],
    ['a number from 0', (text) => text.replace('"seq":2', '"seq":0')],
    ['a number with a fraction', (text) => text.replace('"seq":2', '"seq":2.0')],
    ['a time that does not exist', (text) => text.replace('2026-01-01', '2026-02-30')],
    ['a time without milliseconds', (text) => text.replace('00.000Z', '00Z')],
    ['an actor of no kind', (text) => text.replace('operator:ada', 'ada')],
    ['a type in lower case', (text) => text.replace('TaskClaimed', 'taskClaimed')],
    ['a cause in the future', (text) => text.replace('"cause":1', '"cause":2')],
    ['a project with a slash', (text) => text.replace('"demo"', '"de/mo"')],
    ['a project without a name', (text) => text.replace('"demo"', '""')],
    ['no project', (text) => text.replace('"project":"demo",', '')],
    ['data that is a list', (text) => text.replace(/"data":\{.*?\}/, '"data":[]')],
    ['a fraction inside', (text) => text.replace('"T001"', '1.5')],
    ['a byte order mark', (text) => `\ufeff${text}`],
    ['no JSON', () => 'entry'],
    ['nothing', () => ''],
  ])('is refused with %s', (_name, change) => {
    expect(parse(change(renderEntry(entry))).ok).toBe(false);
  });

  it('is refused when it is not UTF-8', () => {
    expect(parseEntry(Uint8Array.of(0x22, 0xff, 0x22)).ok).toBe(false);
  });

  it('is refused when it is too large', () => {
    const large = renderEntry({ ...entry, data: { text: 'x'.repeat(65_536) } });
    expect(parse(large).ok).toBe(false);
  });

  it('is never accepted with a byte changed, unless the change makes another valid entry', () => {
    const bytes = new TextEncoder().encode(renderEntry(entry));
    fc.assert(
      fc.property(fc.nat(bytes.length - 1), fc.integer({ min: 1, max: 255 }), (at, mask) => {
        const changed = bytes.slice();
        changed[at] = (changed[at] ?? 0) ^ mask;
        const parsed = parseEntry(changed);
        expect(parsed.ok && renderEntry(parsed.value)).toBe(parsed.ok && new TextDecoder().decode(changed));
      }),
    );
  });
});

function parse(text: string): ReturnType<typeof parseEntry> {
  return parseEntry(new TextEncoder().encode(text));
}
