import { describe, expect, it } from 'vitest';
import { isGitRef, isIso8601, isRelativePath } from './text-format.ts';

describe('a timestamp', () => {
  it.each([
    '2025-01-15T10:45:00Z',
    '2025-01-15T10:45Z',
    '2025-01-15T10:45:00.123456789Z',
    '2025-01-15T10:45:00,5Z',
    '2025-01-15T10:45:00+01:00',
    '2025-01-15T10:45:00-0530',
    '2025-01-15T10:45:00',
    '2024-02-29T00:00:00Z',
    '2016-12-31T23:59:60Z',
  ])('is %s', (text) => {
    expect(isIso8601(text)).toBe(true);
  });

  it.each(
    [
      ['', '2025', '2025-01-15', '10:45:00Z', '2025-01-15 10:45:00Z', '2025-1-15T10:45:00Z', 'Wed Jan 15 2025'],
      ['2025-02-29T00:00:00Z', '2025-00-10T00:00:00Z', '2025-13-01T00:00:00Z', '2025-01-00T00:00:00Z'],
      ['2025-04-31T00:00:00Z', '2025-01-15T24:00:00Z', '2025-01-15T10:60:00Z', '2025-01-15T10:45:61Z'],
      ['2025-01-15T10:45:00+24:00', '2025-01-15T10:45:00z', ' 2025-01-15T10:45:00Z', '2025-01-15T10:45:00Z\n'],
      ['٢٠٢٥-01-15T10:45:00Z', '1736937900', '+002025-01-15T10:45:00Z'],
    ].flat(),
  )('is not %j', (text) => {
    expect(isIso8601(text)).toBe(false);
  });
});

describe('a relative path', () => {
  it.each(['a', 'a/b.ts', './a', '.github/x', 'a b', 'é/漢', '...', 'a..b', 'a/..b', 'a/b..', '-x'])(
    'is %j',
    (path) => {
      expect(isRelativePath(path)).toBe(true);
    },
  );

  it.each(['', '/', '/a', '\\a', '\\\\h\\s', 'C:/a', 'c:a', '..', '../a', 'a/..', 'a/../b', 'a\\..\\b', 'a\0', '\n'])(
    'is not %j',
    (path) => {
      expect(isRelativePath(path)).toBe(false);
    },
  );
});

describe('a branch', () => {
  it.each(['main', 'feature/p0-1-1-package-setup', 'a.b', 'a-b', 'a_b', 'é', 'no', '1e5', 'a@b', 'a/b/c', 'a.locked'])(
    'is %j',
    (name) => {
      expect(isGitRef(name)).toBe(true);
    },
  );

  it.each(
    [
      ['', '-x', '--all', '@', 'HEAD', '.a', 'a/.b', 'a.', 'a..b', 'a.lock', 'a.lock/b', '/a', 'a/', 'a//b'],
      ['a b', 'a~1', 'a^', 'a:b', 'a?', 'a*', 'a[b', 'a\\b', 'a@{1}', 'a\0', 'a\nb', 'a\x7f'],
    ].flat(),
  )('is not %j', (name) => {
    expect(isGitRef(name)).toBe(false);
  });
});
