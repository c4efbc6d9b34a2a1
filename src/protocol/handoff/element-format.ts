import { isGitRef, isIso8601 } from '../text/text-format.ts';
import type { ElementFormat } from './element.ts';

interface Format {
  readonly fits: (text: string) => boolean;
  /** Completes the sentence "Element x must be …". */
  readonly expected: string;
  readonly example: string;
  /** For the JSON Schema: not looser than needed, but never stricter than `fits`. */
  readonly schema: { readonly pattern?: string; readonly format?: string };
}

const AGENT = '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$';
const SHA = '^[0-9A-Fa-f]{1,64}$';
const DIGITS = '^[0-9]+$';

export const ELEMENT_FORMATS: Readonly<Record<ElementFormat, Format>> = {
  agent: {
    fits: (text) => new RegExp(AGENT).test(text),
    expected: 'the name of an agent (letters, digits, . _ -, at most 64)',
    example: 'reviewer-agent',
    schema: { pattern: AGENT },
  },
  branch: {
    fits: isGitRef,
    expected: 'a valid git branch name that does not start with -',
    example: 'feature/issue-123-user-auth',
    schema: { pattern: '^(?!-)[^ \\u0000-\\u001f\\u007f~^:?*\\[\\\\]+$' },
  },
  digits: {
    fits: (text) => new RegExp(DIGITS).test(text),
    expected: 'a number in digits',
    example: '123',
    schema: { pattern: DIGITS },
  },
  sha: {
    fits: (text) => new RegExp(SHA).test(text),
    expected: 'a commit in hexadecimal digits',
    example: 'abc123',
    schema: { pattern: SHA },
  },
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

/** The pattern asks for the host itself, since `URL` would find one in `https:///x` too. */
function isWebUrl(text: string): boolean {
  return /^https?:\/\/[^\s/?#\\]/i.test(text) && !/[\s\p{Cc}]/u.test(text) && URL.canParse(text);
}
