export type ElementFormat = 'agent' | 'branch' | 'digits' | 'sha' | 'timestamp' | 'url';
export type TextFormat = 'iso-8601' | 'relative-path' | 'git-ref' | 'git-sha' | ElementFormat;

/** A text format that one readable pattern cannot express. */
interface Format {
  readonly fits: (text: string) => boolean;
  /** The part of the format that JSON Schema can express; never stricter than `fits`. */
  readonly schema: { readonly pattern?: string; readonly format?: string };
  /** Completes the sentence "Element x must be …". */
  readonly expected?: string;
  readonly example?: string;
}

function matching(pattern: string): Format {
  return { fits: (text) => new RegExp(pattern).test(text), schema: { pattern } };
}

export const ELEMENT_FORMATS: Readonly<Record<ElementFormat, Format>> = {
  agent: {
    ...matching('^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$'),
    expected: 'the name of an agent (letters, digits, . _ -, at most 64)',
    example: 'reviewer-agent',
  },
  branch: {
    fits: isGitRef,
    expected: 'a valid git branch name that does not start with -',
    example: 'feature/issue-123-user-auth',
    schema: { pattern: '^(?!-)[^ \\u0000-\\u001f\\u007f~^:?*\\[\\\\]+$' },
  },
  digits: { ...matching('^[0-9]+$'), expected: 'a number in digits', example: '123' },
  sha: { ...matching('^[0-9A-Fa-f]{1,64}$'), expected: 'a commit in hexadecimal digits', example: 'abc123' },
  timestamp: {
    fits: isIso8601,
    expected: 'a date and time in ISO 8601',
    example: '2024-01-15T10:30:00Z',
    schema: { pattern: '^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}' },
  },
  url: {
    fits: isWebUrl,
    expected: 'an http or https URL with a host, without spaces or control characters',
    example: 'https://github.com/owner/repo',
    schema: { pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^\\s/?#\\\\]' },
  },
};

export const TEXT_FORMATS: Readonly<Record<TextFormat, Format>> = {
  ...ELEMENT_FORMATS,
  'iso-8601': { fits: isIso8601, schema: { format: 'date-time' } },
  'relative-path': {
    fits: isRelativePath,
    schema: {
      pattern: '^(?![/\\\\])(?![A-Za-z]:)(?!([\\s\\S]*[/\\\\])?\\.\\.([/\\\\]|$))[^\\u0000-\\u001f\\u007f-\\u009f]+$',
    },
  },
  'git-ref': { fits: isGitRef, schema: { pattern: '^(?!-)[^\\u0000-\\u0020\\u007f-\\u009f~^:?*\\[\\\\]+$' } },
  'git-sha': matching('^[0-9a-fA-F]{1,64}$'),
};

const DATE_TIME = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:[.,]\d{1,9})?)?(?:Z|[+-](\d\d):?(\d\d))?$/;

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

export function isRelativePath(path: string): boolean {
  if (path === '' || /^[/\\]|^[A-Za-z]:|\p{Cc}/u.test(path)) return false;
  return !path.split(/[/\\]/).includes('..');
}

/**
 * Applies the rules of `git check-ref-format --branch`. Refuses a name that starts with `-`, since a program could read
 * it as an option.
 */
export function isGitRef(name: string): boolean {
  if (name === '@' || name === 'HEAD' || name.startsWith('-') || name.endsWith('.')) return false;
  if (/[\p{Cc} ~^:?*[\\]|\.\.|@\{/u.test(name)) return false;
  return name.split('/').every((part) => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'));
}

/** The pattern requires a host, because `URL` finds one even in `https:///x`. */
function isWebUrl(text: string): boolean {
  return /^https?:\/\/[^\s/?#\\]/i.test(text) && !/[\s\p{Cc}]/u.test(text) && URL.canParse(text);
}

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

/**
 * Reports whether a surrogate pair starts here: it is two units and four bytes, and the sum above already counts both.
 */
function isPairAt(text: string, i: number, unit: number): boolean {
  if (unit < 0xd800 || unit > 0xdbff) return false;
  const next = text.charCodeAt(i + 1);
  return next >= 0xdc00 && next <= 0xdfff;
}

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

/** Decodes the input; undefined if it is not UTF-8. Drops a byte order mark, which editors on Windows add. */
export function decodeUtf8(input: string | Uint8Array): string | undefined {
  if (typeof input === 'string') return input.startsWith('\ufeff') ? input.slice(1) : input;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(input);
  } catch {
    return undefined;
  }
}

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

/** Renders `1 file`, `2 files`. */
export function renderCountOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}
