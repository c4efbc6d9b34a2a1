import { expect, it } from 'vitest';
import { renderLaunchdPlist, renderSystemdUnit, SERVICE_MARK } from './service.ts';

const FACTS = {
  node: '/opt/no de/bin/node',
  baton: '/opt/$x/"q"/bin/baton.cjs',
  stateDir: '/home/ada/100%/state & more',
  downFile: '/home/ada/100%/state & more/daemon.down',
  path: '/usr/bin:/home/ada/bin',
};

it('writes a unit that restarts on failure, leaves agents alone and honours baton down', () => {
  const { path, content, enable } = renderSystemdUnit(FACTS, '/home/ada/.config', true);
  expect(path).toBe('/home/ada/.config/systemd/user/baton.service');
  expect(content.split('\n')).toEqual(
    expect.arrayContaining([
      'Restart=on-failure',
      'KillMode=process',
      'ConditionPathExists=!/home/ada/100%%/state & more/daemon.down',
      'Environment="BATON_STATE_DIR=/home/ada/100%%/state & more" "PATH=/usr/bin:/home/ada/bin"',
      String.raw`ExecStart="/opt/no de/bin/node" "/opt/$$x/\"q\"/bin/baton.cjs" up --foreground`,
    ]),
  );
  expect(content.startsWith(`# ${SERVICE_MARK}`)).toBe(true);
  expect(enable).toContain('enable --now baton.service');
});

it('writes a plist that restarts on failure, leaves agents alone and honours baton down', () => {
  const { path, content } = renderLaunchdPlist(FACTS, '/Users/ada', true);
  expect(path).toBe('/Users/ada/Library/LaunchAgents/baton.daemon.plist');
  expect(content).toContain(SERVICE_MARK);
  expect(content).toContain('<key>KeepAlive</key>\n  <dict><key>SuccessfulExit</key><false/></dict>');
  expect(content).toContain('<key>AbandonProcessGroup</key><true/>');
  expect(content).toContain('<string>[ -e "$1" ] &amp;&amp; exit 0; exec "$2" "$3" up --foreground</string>');
  expect(content).toContain('<string>/home/ada/100%/state &amp; more/daemon.down</string>');
});

it('gives each state folder a service of its own', () => {
  const names = ['/a', '/b'].map((stateDir) => renderSystemdUnit({ ...FACTS, stateDir }, '/c', false).path);
  expect(new Set(names).size).toBe(2);
  expect(names[0]).toMatch(/\/baton-[0-9a-f]{8}\.service$/);
});
