import { describe, expect, it } from 'vitest';
import { findSystemProgram, systemFolders } from './system-program.ts';

describe('a program of the system', () => {
  it('is searched on PATH first, then in the usual folders', () => {
    const folders = systemFolders({ PATH: '/opt/bin:/usr/bin' });
    expect(folders.slice(0, 2)).toEqual(['/opt/bin', '/usr/bin']);
    expect(folders).toEqual(expect.arrayContaining(['/usr/local/bin', '/bin', '/usr/sbin', '/sbin']));
  });

  it('is never searched in the current folder', () => {
    expect(systemFolders({ PATH: ':.:bin:/opt/bin' })[0]).toBe('/opt/bin');
  });

  it.each([{}, { PATH: '' }, { PATH: '/nowhere' }])('is found with a short PATH: %j', (env) => {
    expect(findSystemProgram('sh', env)).toMatch(/^\/(?:usr\/)?(?:local\/)?bin\/sh$/);
    expect(findSystemProgram('no-such-program', env)).toBeUndefined();
  });
});
