import { expect, it } from 'vitest';
import { isDiskFault, isDiskFaultText, isShortage, isShortageText } from './resource-faults.ts';

const failure = (code: string): Error => Object.assign(new Error(`${code}: it failed`), { code });

it.each(['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM'])('%s is a shortage', (code) => {
  expect([isShortage(failure(code)), isDiskFault(failure(code)), isShortageText(`spawn git ${code}`)]).toEqual([
    true,
    false,
    true,
  ]);
});

it.each(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'EFBIG'])('%s is a fault of the disk', (code) => {
  expect([isShortage(failure(code)), isDiskFault(failure(code))]).toEqual([false, true]);
});

it.each([
  'fatal: unable to write new index file: No space left on device',
  'error: unable to create file big.bin: Disk quota exceeded',
  'cannot open .git/index.lock: Read-only file system',
  'unable to write file a: Input/output error',
])('is recognised in a message of git: %s', (text) => expect(isDiskFaultText(text)).toBe(true));

it.each([failure('ENOENT'), failure('EACCES'), new Error('x'), undefined, 'EMFILE', { code: 'EMFILE' }])(
  'is neither: %s',
  (error) => expect([isShortage(error), isDiskFault(error)]).toEqual([false, false]),
);
