import { expect, it } from 'vitest';
import { parsePlayOptions } from './options.ts';

it('refuses options that have no meaning with ACP', () => {
  expect(parsePlayOptions(['--acp', '--keep', 'kept', 'a.yaml'])).toMatchObject({ isAcp: true, keep: 'kept' });
  expect(parsePlayOptions(['--resume', 'x', '--acp', 'a.yaml'])).toBe('--resume does not go with --acp');
  expect(parsePlayOptions(['--resume', 'x', 'a.yaml'])).toMatchObject({ isAcp: false, isResume: true });
});
