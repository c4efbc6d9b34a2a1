import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../../test/run-cli.ts';
import { parseAddress, SignedPage } from '../../daemon/http/signed-page.cases.ts';
import type { Daemon } from '../../daemon/lifecycle.ts';
import { Scene, until } from '../../daemon/running.cases.ts';
import { describeOpened } from './web.ts';

let scene: Scene;
let daemon: Daemon;
let repository: string;

beforeAll(async () => {
  scene = new Scene();
  repository = scene.makeRepository();
  daemon = await scene.runDaemon();
});
afterAll(async () => {
  await daemon.stop();
  await scene.end();
});

async function baton(args: readonly string[], more: { env?: object; cwd?: string; isTerminal?: boolean } = {}) {
  const { cwd = repository, isTerminal = false } = more;
  return runCli(args, '', { cwd, isTerminal, env: { ...scene.env, ...more.env } });
}

describe('baton web', () => {
  it('prints an address that makes a browser the operator, once', async () => {
    const { code, out, err } = await baton(['web']);
    expect([code, err]).toEqual([0, expect.stringContaining('No browser was opened: the output is not a terminal')]);
    expect(parseAddress(out.trim())).toMatchObject({ project: repository, port: daemon.record.port });
    const page = await SignedPage.open(out.trim());
    expect(await page.call('costs_get', {}, { project: repository })).toMatchObject({ status: 200 });
    await expect(SignedPage.open(out.trim())).rejects.toThrow('bad-page-code');
    expect(out).not.toContain(scene.token());
  });

  it('makes the desktop open it at a terminal, but not with --no-open', async () => {
    const bin = join(scene.folder, 'bin');
    const seen = join(scene.folder, 'opened');
    mkdirSync(bin);
    writeFileSync(join(bin, 'xdg-open'), `#!/bin/sh\nprintf %s "$1" > ${seen}.draft && mv ${seen}.draft ${seen}\n`);
    chmodSync(join(bin, 'xdg-open'), 0o755);
    const env = { PATH: `${bin}:${scene.env['PATH']}`, DISPLAY: ':0', CI: '' };
    const printed = await baton(['web', '--no-open'], { env, isTerminal: true });
    expect(printed.err).toContain('Open the address in your browser');
    const { out, err } = await baton(['web'], { env, isTerminal: true });
    expect(err).toContain('Your browser opens the page');
    const read = (): string => {
      try {
        return readFileSync(seen, 'utf8');
      } catch {
        return '';
      }
    };
    await until(() => read() !== '', 'the browser was opened');
    expect(read()).toBe(out.trim());
  });

  it('works outside of a repository, and prints JSON', async () => {
    const { out } = await baton(['web', '--json'], { cwd: scene.folder });
    const opened = JSON.parse(out) as { url: string };
    expect(opened).toMatchObject({ port: daemon.record.port, port_moved: null });
    expect(parseAddress(opened.url)).toMatchObject({ project: '' });
  });

  it('prints the address without a code', async () => {
    const { out } = await baton(['web', '--no-token']);
    expect(out.trim()).toBe(`http://127.0.0.1:${daemon.record.port}/#project=${encodeURIComponent(repository)}`);
  });

  it('is refused to a caller that is not the operator', async () => {
    const { code, err } = await baton(['web'], { env: { BATON_TOKEN: 's.x.y' } });
    expect([code, err]).toEqual([1, expect.stringContaining('outside the session')]);
  });
});

describe('baton web keys', () => {
  it('lists the keys, and revokes one or all', async () => {
    const { out } = await baton(['web']);
    await SignedPage.open(out.trim());
    expect((await baton(['web', 'keys'])).out).toMatch(
      /^KEY +CREATED +LAST USED +ORIGIN\npage-1 .*\npage-2 +\S+ +never +http:\/\/127/,
    );
    expect(await baton(['web', 'keys', 'revoke', 'page-1'])).toMatchObject({ code: 0, out: 'Revoked: page-1\n' });
    expect(await baton(['web', 'keys', 'revoke', 'page-1'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('no page or editor has the key page-1'),
    });
    expect(await baton(['web', 'keys', 'revoke'])).toMatchObject({ code: 2 });
    expect(await baton(['web', 'keys', 'revoke', '--all'])).toMatchObject({ code: 0, out: 'Revoked: page-2\n' });
    expect((await baton(['web', 'keys'])).out).toContain('No page or editor has a key');
  });
});

describe('the note about a port that was taken', () => {
  const opened = { url: '', code_expires_at: '', port: 2, daemon_key: '' };
  const moved = (taken_by: string | null) => ({ ...opened, port_moved: { from: 1, to: 2, taken_by, at: '' } });

  it('names the process, or reports that it is unknown', () => {
    expect(describeOpened(moved('process 7: node x'), { ok: true })).toContain(
      'taken by process 7: node x. The page has port 2',
    );
    expect(describeOpened(moved(null), { ok: true })).toContain('which the system does not name');
    expect(describeOpened({ ...opened, port_moved: null }, { ok: true })).not.toContain('Note');
  });
});
