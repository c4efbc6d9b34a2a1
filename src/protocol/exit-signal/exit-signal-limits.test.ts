import { describe, expect, it } from 'vitest';
import { parseExitSignal, validateExitSignal } from './exit-signal.ts';

const VALID = {
  protocol: 'apm2_agent_exit',
  version: '1.0.0',
  phase_completed: 'IMPLEMENTATION',
  exit_reason: 'completed',
};

/** Characters that take one to four bytes in UTF-8. */
const CHARACTERS = ['x', 'é', '漢', '😀'];

describe('exit signal of 65,536 bytes', () => {
  it.each(CHARACTERS)('is not too large, counted in %s', (character) => {
    expect(messageOf(signalOf(65_536, character))).toMatch(
      /^notes exceeds maximum length: 65[0-9]{3} bytes > 10240 bytes$/,
    );
  });

  it.each(CHARACTERS)('is too large with one byte more, counted in %s', (character) => {
    expect(messageOf(signalOf(65_537, character))).toBe('input too large: 65537 bytes > 65536 bytes maximum');
  });

  it('is too large when the last character goes over the edge', () => {
    const text = signalOf(65_536, 'x').replace('x"', '漢"');
    expect(messageOf(text)).toBe('input too large: 65538 bytes > 65536 bytes maximum');
  });

  it('is accepted if the bytes are only space', () => {
    const json = JSON.stringify(VALID);
    expect(parseExitSignal(json.padEnd(65_536))).toEqual({ ok: true, value: VALID });
    expect(messageOf(json.padEnd(65_537))).toBe('input too large: 65537 bytes > 65536 bytes maximum');
  });

  it('is measured as received: bytes by their number, a value as its JSON', () => {
    const bytes = new TextEncoder().encode(signalOf(65_537, 'é'));
    expect(messageOf(bytes)).toBe('input too large: 65537 bytes > 65536 bytes maximum');
    expect(messageOf(JSON.parse(signalOf(70_000, '😀')))).toBe('input too large: 70000 bytes > 65536 bytes maximum');
  });

  it('is refused as too large before any other check, even before decoding', () => {
    expect(messageOf('}'.repeat(1_048_576))).toBe('input too large: 1048576 bytes > 65536 bytes maximum');
    expect(messageOf(new Uint8Array(65_537).fill(0xff))).toBe('input too large: 65537 bytes > 65536 bytes maximum');
  });

  it('has no place, because the text is not parsed', () => {
    const parsed = parseExitSignal('x'.repeat(65_537));
    expect(parsed).toMatchObject({ problems: [{ code: 'too-large', path: '', line: null, column: null }] });
  });
});

describe.each([
  { field: 'protocol', limit: 64, start: '', within: 'unknown protocol' },
  { field: 'version', limit: 64, start: '1.0.', within: 'unsupported version' },
  { field: 'pr_url', limit: 2_048, start: 'https://', within: undefined },
  { field: 'notes', limit: 10_240, start: '', within: undefined },
  { field: 'evidence_bundle_ref', limit: 2_048, start: '', within: undefined },
])('$field of $limit bytes', ({ field, limit, start, within }) => {
  it.each(CHARACTERS)('is not too long, counted in %s', (character) => {
    expect(errorOf(field, fill(start, limit, character))?.split(':')[0]).toBe(within);
  });

  it.each(CHARACTERS)('is too long with one byte more, counted in %s', (character) => {
    expect(errorOf(field, fill(start, limit + 1, character))).toBe(
      `${field} exceeds maximum length: ${limit + 1} bytes > ${limit} bytes`,
    );
  });

  it.each([
    ['é', 1],
    ['漢', 2],
    ['😀', 3],
  ])('is too long if the limit falls inside %s', (character, over) => {
    expect(errorOf(field, `${fill(start, limit - 1, 'x')}${character}`)).toBe(
      `${field} exceeds maximum length: ${limit + over} bytes > ${limit} bytes`,
    );
  });
});

describe('notes', () => {
  it('are measured before control characters are stripped', () => {
    expect(errorOf('notes', '\0'.repeat(10_240))).toBeUndefined();
    expect(errorOf('notes', '\0'.repeat(10_241))).toBe('notes exceeds maximum length: 10241 bytes > 10240 bytes');
  });

  it('are measured after escapes are decoded', () => {
    const text = JSON.stringify(VALID).replace('}', `,"notes":"${'\\u00e9'.repeat(5_120)}"}`);
    expect(parseExitSignal(text)).toEqual({ ok: true, value: { ...VALID, notes: 'é'.repeat(5_120) } });
  });
});

/** A signal of exactly that many bytes, mostly in its notes. */
function signalOf(bytes: number, character: string): string {
  const empty = JSON.stringify({ ...VALID, notes: '' });
  return JSON.stringify({ ...VALID, notes: fill('', bytes - empty.length, character) });
}

/** A text of exactly that many bytes: as many of the character as fit, then ASCII. */
function fill(start: string, bytes: number, character: string): string {
  const size = new TextEncoder().encode(character).length;
  const room = bytes - start.length;
  return start + character.repeat(Math.floor(room / size)) + 'x'.repeat(room % size);
}

function errorOf(field: string, value: string): string | undefined {
  return validateExitSignal({ ...VALID, [field]: value })[0];
}

function messageOf(input: unknown): string | undefined {
  const parsed = parseExitSignal(input);
  return parsed.ok ? undefined : parsed.problems[0].message;
}
