import { expect, it } from 'vitest';
import { isTransient, MAX_TRANSIENT_MS } from './due.ts';

const failure = (code: string): Error => Object.assign(new Error(code), { code });

it.each(['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM', 'ENOSPC', 'EDQUOT', 'EROFS', 'EIO'])(
  '%s is retried, and becomes an outcome if it lasts',
  (code) => {
    expect([0, MAX_TRANSIENT_MS - 1, MAX_TRANSIENT_MS].map((ms) => isTransient(failure(code), ms))).toEqual([
      true,
      true,
      false,
    ]);
  },
);

it.each([failure('ENOENT'), failure('EACCES'), new Error('a mistake'), 'EMFILE', undefined])(
  'is an outcome at once: %s',
  (error) => expect(isTransient(error, 0)).toBe(false),
);
