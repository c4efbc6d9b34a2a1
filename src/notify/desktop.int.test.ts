import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { desktopChannel } from './desktop.ts';
import { findProgram } from './run-program.ts';

const notification = {
  id: '1',
  kind: 'attention',
  title: '\'Agent\' "needs" $(attention): \\n `x` -1',
  message: 'line one\nline <two> & \u001B[31mred\u0007',
} as const;

/** A folder with a program that records its arguments. The PATH has only this folder and what the program needs. */
function recorder(name: string, ending = 'exit 0') {
  const folder = mkdtempSync(join(tmpdir(), 'baton-notify-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const record = join(folder, 'arguments');
  writeFileSync(join(folder, name), `#!/bin/sh\nprintf '%s\\0' "$@" > "${record}"\n${ending}\n`);
  chmodSync(join(folder, name), 0o755);
  return { env: { PATH: folder }, heard: () => readFileSync(record, 'utf8').split('\0').slice(0, -1) };
}

describe('notify-send', () => {
  it('is called with texts that are arguments, not options, markup or shell', async () => {
    const { env, heard } = recorder('notify-send');
    expect(await desktopChannel({ env, platform: 'linux' }).send(notification)).toEqual({ ok: true });
    expect(heard()).toEqual([
      '--app-name=Baton',
      '--urgency=critical',
      '--',
      notification.title,
      'line one\nline &lt;two&gt; &amp; red',
    ]);
  });

  it("fails with the program's output", async () => {
    const { env } = recorder('notify-send', 'echo "no server" >&2; exit 1');
    const sent = await desktopChannel({ env, platform: 'linux' }).send(notification);
    expect(sent).toEqual({ ok: false, reason: 'notify-send: no server' });
  });

  it('is not waited for without end', async () => {
    const { env } = recorder('notify-send', 'exec /bin/sleep 60');
    const sent = await desktopChannel({ env, platform: 'linux', timeoutMs: 100 }).send(notification);
    expect(sent).toEqual({ ok: false, reason: 'notify-send: no answer within 100 ms' });
  });
});

it('osascript gets the texts as arguments of a fixed script', async () => {
  const { env, heard } = recorder('osascript');
  expect(await desktopChannel({ env, platform: 'darwin' }).send(notification)).toEqual({ ok: true });
  expect(heard().slice(-3)).toEqual(['--', notification.title, 'line one\nline <two> & red']);
  expect(heard().slice(0, -3).join(' ')).not.toContain('Agent');
});

it('reports that there is no program', async () => {
  const sent = await desktopChannel({ env: { PATH: 'relative:/nowhere' }, platform: 'linux' }).send(notification);
  expect(sent).toEqual({ ok: false, reason: 'neither gdbus nor notify-send was found' });
});

/** Whether a real message bus and a real notification server are installed. */
const hasBus =
  ['gdbus', 'dbus-daemon'].every((name) => findProgram(name, process.env) !== undefined) &&
  existsSync('/usr/bin/python3') &&
  spawnSync('/usr/bin/python3', ['-c', 'import dbus, gi']).status === 0;

describe.skipIf(!hasBus)('a D-Bus session (needs gdbus, dbus-daemon, python3-dbus and python3-gi)', () => {
  it('receives the notification unchanged', async () => {
    const bus = await openBus();
    const server = await openServer(bus);
    const env = { PATH: process.env['PATH'], DBUS_SESSION_BUS_ADDRESS: bus };
    expect(await desktopChannel({ env, platform: 'linux' }).send(notification)).toEqual({ ok: true });
    expect(JSON.parse(await server.nextLine())).toEqual({
      app: 'Baton',
      summary: notification.title,
      body: 'line one\nline &lt;two&gt; &amp; red',
      actions: [],
      urgency: 2,
      timeout: -1,
    });
  });

  it('reports that no service receives notifications', async () => {
    const env = { PATH: process.env['PATH'], DBUS_SESSION_BUS_ADDRESS: await openBus() };
    const sent = await desktopChannel({ env, platform: 'linux' }).send(notification);
    expect(sent).toMatchObject({ ok: false, reason: expect.stringContaining('org.freedesktop.Notifications') });
  });
});

/** Starts a message bus without services. */
async function openBus(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'baton-bus-'));
  const config = join(folder, 'bus.conf');
  writeFileSync(
    config,
    `<busconfig><type>session</type><listen>unix:path=${folder}/bus</listen><auth>EXTERNAL</auth>
     <policy context="default"><allow send_destination="*"/><allow receive_sender="*"/><allow own="*"/></policy></busconfig>`,
  );
  const said = execFileSync(
    'dbus-daemon',
    [`--config-file=${config}`, '--fork', '--print-address=1', '--print-pid=1'],
    { encoding: 'utf8' },
  );
  const [address = '', pid] = said.trim().split('\n');
  onTestFinished(() => {
    process.kill(Number(pid));
    rmSync(folder, { recursive: true });
  });
  return address;
}

const SERVER = `
import dbus, dbus.service, json
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib
NAME = 'org.freedesktop.Notifications'
class Server(dbus.service.Object):
    @dbus.service.method(NAME, in_signature='susssasa{sv}i', out_signature='u')
    def Notify(self, app, replaces, icon, summary, body, actions, hints, timeout):
        said = dict(app=app, summary=summary, body=body, actions=list(actions), urgency=int(hints['urgency']), timeout=timeout)
        print(json.dumps(said), flush=True)
        return 1
DBusGMainLoop(set_as_default=True)
bus = dbus.SessionBus()
Server(bus, '/org/freedesktop/Notifications')
name = dbus.service.BusName(NAME, bus)
print('ready', flush=True)
GLib.MainLoop().run()
`;

async function openServer(bus: string) {
  const child = spawn('/usr/bin/python3', ['-c', SERVER], {
    env: { DBUS_SESSION_BUS_ADDRESS: bus },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill());
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const nextLine = async (): Promise<string> => String((await lines.next()).value);
  expect(await nextLine()).toBe('ready');
  return { nextLine };
}
