import { describe, expect, it } from 'vitest';
import { planBrowser } from './open-browser.ts';

const desktop = { env: { DISPLAY: ':0' }, isTerminal: true };

describe('the browser', () => {
  it.each([
    ['linux', desktop, 'xdg-open'],
    ['linux', { env: { WAYLAND_DISPLAY: 'wayland-0' }, isTerminal: true }, 'xdg-open'],
    ['darwin', { env: {}, isTerminal: true }, 'open'],
    ['win32', { env: {}, isTerminal: true }, 'rundll32'],
  ])('is opened by the desktop on %s', (system, io, program) => {
    expect(planBrowser(system, io)).toMatchObject({ ok: true, program });
  });

  it.each([
    [{ BROWSER: 'firefox' }, { program: 'firefox', args: [] }],
    [
      { BROWSER: 'w3m -o x=1 %s:lynx', DISPLAY: ':0' },
      { program: 'w3m', args: ['-o', 'x=1'] },
    ],
    [
      { BROWSER: '/remote/browser.sh', SSH_CONNECTION: 'a 1 b 22' },
      { program: '/remote/browser.sh', args: [] },
    ],
  ])('is the one that %j names', (env, plan) => {
    expect(planBrowser('linux', { env, isTerminal: true })).toEqual({ ok: true, ...plan });
  });

  it.each([
    ['without a display', { ...desktop, env: { DISPLAY: '' } }, 'there is no display'],
    ['in CI', { ...desktop, env: { ...desktop.env, CI: 'true' } }, 'CI is set'],
    ['over SSH', { ...desktop, env: { ...desktop.env, SSH_CONNECTION: 'a 1 b 22' } }, 'this is a session over SSH'],
    ['for a program that reads the address', { ...desktop, isTerminal: false }, 'the output is not a terminal'],
  ])('is not opened %s', (_when, io, reason) => {
    expect(planBrowser('linux', io)).toEqual({ ok: false, reason });
  });
});
