import type { TextFormat } from '../shape/shape.ts';

/** The formats that a pattern cannot say in one readable line. Each is a yes or no about one text. */
export const TEXT_FORMATS: Record<TextFormat, (text: string) => boolean> = {
  'iso-8601': isIso8601,
  'relative-path': isRelativePath,
  'git-ref': isGitRef,
  'git-sha': (text) => /^[0-9a-f]{1,64}$/i.test(text),
};

const DATE_TIME = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)?(?:Z|[+-](\d\d):?(\d\d))?$/;

/** A date and a time of ISO 8601's extended form, on a day that exists. */
export function isIso8601(text: string): boolean {
  const parts = DATE_TIME.exec(text);
  if (!parts) return false;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0, zoneHour = 0, zoneMinute = 0] = parts
    .slice(1)
    .map((part) => Number(part ?? 0));
  const daysInMonth = new Date(Date.UTC(year, month, 0)).getUTCDate();
  const isDay = month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth;
  return isDay && hour <= 23 && minute <= 59 && second <= 60 && zoneHour <= 23 && zoneMinute <= 59;
}

/** A path that stays below the folder it is relative to, on every system. */
export function isRelativePath(path: string): boolean {
  if (path === '' || /^[/\\]|^[A-Za-z]:|\p{Cc}/u.test(path)) return false;
  return !path.split(/[/\\]/).includes('..');
}

/** The rules of `git check-ref-format --branch`: a name that git takes and that no command line takes for an option. */
export function isGitRef(name: string): boolean {
  if (name === '@' || name === 'HEAD' || name.startsWith('-') || name.endsWith('.')) return false;
  if (/[\p{Cc} ~^:?*[\\]|\.\.|@\{/u.test(name)) return false;
  return name.split('/').every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'));
}

/** The size of a text on the wire. Counted, not encoded, since it is asked for every field of every message. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    bytes += unit < 0x800 ? 1 : 2;
    if (isPairAt(text, i, unit)) i += 1;
  }
  return bytes;
}

/** A surrogate pair is two units and four bytes, which is what the 2 + 2 above already come to. */
function isPairAt(text: string, i: number, unit: number): boolean {
  if (unit < 0xd800 || unit > 0xdbff) return false;
  const next = text.charCodeAt(i + 1);
  return next >= 0xdc00 && next <= 0xdfff;
}

/** True for what can be read as text. A proxy may refuse to say what it is; then it is a value like any other. */
export function isTextOrBytes(input: unknown): input is string | Uint8Array {
  try {
    return typeof input === 'string' || input instanceof Uint8Array;
  } catch {
    return false;
  }
}

export function byteLengthOf(input: string | Uint8Array): number {
  return typeof input === 'string' ? utf8Length(input) : input.length;
}

/** What was received as text, or undefined where it is not UTF-8. A byte order mark is dropped: editors on Windows add it. */
export function decodeUtf8(input: string | Uint8Array): string | undefined {
  if (typeof input === 'string') return input.startsWith('\ufeff') ? input.slice(1) : input;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(input);
  } catch {
    return undefined;
  }
}

/** `1h 30m`, `45s`: the two largest units. */
export function renderElapsedTime(ms: number): string {
  if (ms > 0 && ms < 1000) return `${ms}ms`;
  const words: string[] = [];
  let left = ms;
  for (const [unit, size] of UNITS) {
    const count = Math.floor(left / size);
    left -= count * size;
    if (count > 0) words.push(`${count}${unit}`);
  }
  return words.slice(0, 2).join(' ') || '0s';
}

const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const;
