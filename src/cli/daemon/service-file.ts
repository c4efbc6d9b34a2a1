import { createHash } from 'node:crypto';
import { join } from 'node:path';

/** What a service manager must know to run the daemon of one state folder. */
export interface ServiceFacts {
  readonly node: string;
  readonly baton: string;
  readonly stateDir: string;
  /** There while `baton down` is in force. */
  readonly downFile: string;
  /** Where the daemon and its agents find programs: service managers have a PATH of their own. */
  readonly path: string;
}

export interface ServiceFile {
  readonly path: string;
  readonly content: string;
  /** What to type after it was written, and before it is removed. */
  readonly enable: string;
  readonly disable: string;
}

/** The first line of every service file that Baton writes. A file without it was not written by Baton, and is left alone. */
export const SERVICE_MARK = 'Written by `baton up --install-service`';

export function renderSystemdUnit(facts: ServiceFacts, configHome: string, isDefaultFolder: boolean): ServiceFile {
  const name = `baton${isDefaultFolder ? '' : `-${hashOf(facts.stateDir)}`}.service`;
  const content = `# ${SERVICE_MARK}. Remove it with: baton up --uninstall-service
[Unit]
Description=Baton, a control plane for coding agents
# baton down is in force until the next baton up.
ConditionPathExists=!${escapeSpecifiers(facts.downFile)}
StartLimitIntervalSec=0

[Service]
Type=exec
Environment=${quoteSystemd(`BATON_STATE_DIR=${facts.stateDir}`)} ${quoteSystemd(`PATH=${facts.path}`)}
ExecStart=${[facts.node, facts.baton].map((word) => quoteSystemd(word).replaceAll('$', '$$$$')).join(' ')} up --foreground
Restart=on-failure
RestartSec=1
RestartSteps=8
RestartMaxDelaySec=300
# Agents and their supervisors outlive the daemon.
KillMode=process

[Install]
WantedBy=default.target
`;
  return {
    path: join(configHome, 'systemd', 'user', name),
    content,
    enable: `systemctl --user daemon-reload && systemctl --user enable --now ${name}`,
    disable: `systemctl --user disable --now ${name}`,
  };
}

export function renderLaunchdPlist(facts: ServiceFacts, home: string, isDefaultFolder: boolean): ServiceFile {
  const label = `baton.daemon${isDefaultFolder ? '' : `.${hashOf(facts.stateDir)}`}`;
  const path = join(home, 'Library', 'LaunchAgents', `${label}.plist`);
  // launchd knows no condition: the shell looks whether baton down is in force.
  const script = '[ -e "$1" ] && exit 0; exec "$2" "$3" up --foreground';
  const words = ['/bin/sh', '-c', script, 'baton', facts.downFile, facts.node, facts.baton];
  const content = `<?xml version="1.0" encoding="UTF-8"?>
<!-- ${SERVICE_MARK}. Remove it with: baton up, then the option uninstall-service. -->
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key><string>${escapeXml(label)}</string>
  <key>ProgramArguments</key>
  <array>
${words.map((word) => `    <string>${escapeXml(word)}</string>`).join('\n')}
  </array>
  <key>EnvironmentVariables</key>
  <dict>
    <key>BATON_STATE_DIR</key><string>${escapeXml(facts.stateDir)}</string>
    <key>PATH</key><string>${escapeXml(facts.path)}</string>
  </dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key>
  <dict><key>SuccessfulExit</key><false/></dict>
  <key>ThrottleInterval</key><integer>10</integer>
  <key>AbandonProcessGroup</key><true/>
</dict>
</plist>
`;
  return { path, content, enable: `launchctl load -w ${path}`, disable: `launchctl unload -w ${path}` };
}

function hashOf(stateDir: string): string {
  return createHash('sha256').update(stateDir).digest('hex').slice(0, 8);
}

/** systemd replaces what begins with a percent sign. */
function escapeSpecifiers(text: string): string {
  return text.replaceAll('%', '%%');
}

function quoteSystemd(text: string): string {
  return `"${escapeSpecifiers(text).replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
