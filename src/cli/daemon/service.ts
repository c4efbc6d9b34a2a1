import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import type { ApiError } from '../../api/answer.ts';
import { findDaemon } from '../../api/client/reach.ts';
import { clearDownIntent, findStateDir, stateFiles } from '../../api/state-folder.ts';
import { EXIT, type Io } from '../command.ts';
import { reportProblem } from '../problems.ts';

export async function changeService(what: 'install' | 'uninstall', io: Io): Promise<number> {
  const host = serviceHost(io.env);
  const done = what === 'install' ? installService(host) : uninstallService(host);
  if (!done.ok) return reportProblem(done.error, io);
  const { path, enable, disable } = done.file;
  if (done.did === 'absent') io.out(`There is no service file at ${path}.\n`);
  else if (done.did === 'removed') io.out(`Removed ${path}.\nIf it was enabled, stop it with: ${disable}\n`);
  else io.out(describeChange(path, enable, disable, await isDaemonUp(io)));
  return EXIT.ok;
}

/** Whether a daemon runs. If none does, an earlier `baton down` must not keep the service from starting one. */
async function isDaemonUp({ env }: Io): Promise<boolean> {
  const stateDir = findStateDir(env);
  const connection = await findDaemon(stateDir);
  connection?.close();
  if (connection === undefined) clearDownIntent(stateDir);
  return connection !== undefined;
}

function describeChange(path: string, enable: string, disable: string, isRunning: boolean): string {
  const first = isRunning ? 'baton down && baton up --install-service && ' : '';
  return [
    `Wrote ${path}.`,
    'The service starts the daemon at login and after a crash, but not after baton down.',
    'The service gets your PATH and no other variable: add the API keys of your agents to the service.',
    `  start it: ${first}${enable}`,
    `  undo:     ${disable}; baton up --uninstall-service`,
    '',
  ].join('\n');
}

/** The same path in a clone and in a release. */
const BATON = join(import.meta.dirname, '..', '..', '..', 'bin', 'baton.cjs');

/** The facts for installing this program as a service. */
export function serviceHost(env: ServiceHost['env']): ServiceHost {
  return { platform: process.platform, node: process.execPath, baton: BATON, env };
}

export interface ServiceHost {
  readonly platform: NodeJS.Platform;
  readonly node: string;
  readonly baton: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

type ServiceResult =
  | { readonly ok: true; readonly file: ServiceFile; readonly did: 'written' | 'removed' | 'absent' }
  | { readonly ok: false; readonly error: ApiError };

/** Writes the service file. A file that Baton did not write is kept. */
export function installService(host: ServiceHost): ServiceResult {
  const found = findService(host);
  if (!found.ok) return found;
  const { file, before } = found;
  if (before !== undefined && !before.includes(SERVICE_MARK)) return { ok: false, error: notOurFileError(file.path) };
  try {
    mkdirSync(dirname(file.path), { recursive: true });
    writeFileSync(file.path, file.content);
  } catch (error) {
    return { ok: false, error: cannotWriteError(file.path, error) };
  }
  return { ok: true, file, did: 'written' };
}

function uninstallService(host: ServiceHost): ServiceResult {
  const found = findService(host);
  if (!found.ok) return found;
  const { file, before } = found;
  if (before === undefined) return { ok: true, file, did: 'absent' };
  if (!before.includes(SERVICE_MARK)) return { ok: false, error: notOurFileError(file.path) };
  try {
    rmSync(file.path);
  } catch (error) {
    return { ok: false, error: cannotWriteError(file.path, error) };
  }
  return { ok: true, file, did: 'removed' };
}

type FoundService =
  | { readonly ok: true; readonly file: ServiceFile; readonly before: string | undefined }
  | { readonly ok: false; readonly error: ApiError };

export function findService({ platform, node, baton, env }: ServiceHost): FoundService {
  const stateDir = findStateDir(env);
  const isDefault = stateDir === findStateDir({ HOME: env['HOME'] });
  const facts = { node, baton, stateDir, downFile: stateFiles(stateDir).down, path: env['PATH'] ?? '/usr/bin:/bin' };
  const words = Object.values(facts);
  if (words.some((word) => /[\n\r\0]/.test(word))) return { ok: false, error: UNSAFE_PATH };
  const home = env['HOME'] ?? homedir();
  const { XDG_CONFIG_HOME: config } = env;
  const configHome = config !== undefined && isAbsolute(config) ? config : join(home, '.config');
  if (platform === 'linux') return withContent(renderSystemdUnit(facts, configHome, isDefault));
  if (platform === 'darwin') return withContent(renderLaunchdPlist(facts, home, isDefault));
  return { ok: false, error: unsupportedError(platform) };
}

/** Reads the current file. An unreadable file must not be replaced. */
function withContent(file: ServiceFile): FoundService {
  try {
    return { ok: true, file, before: readFileSync(file.path, 'utf8') };
  } catch (error) {
    const isAbsent = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    return isAbsent ? { ok: true, file, before: undefined } : { ok: false, error: notOurFileError(file.path) };
  }
}

function notOurFileError(path: string): ApiError {
  const hint = 'Move that file away, or change it so that it runs: baton up --foreground';
  return { code: 'service-not-ours', message: `${path} was not written by Baton and is kept`, hint };
}

function cannotWriteError(path: string, error: unknown): ApiError {
  const message = `${path} cannot be written: ${error instanceof Error ? error.message : String(error)}`;
  return { code: 'service-not-written', message, hint: 'Check the owner and the permissions of its folder.' };
}

function unsupportedError(platform: string): ApiError {
  const message = `there is no service file for ${platform}: only for systemd (Linux) and launchd (macOS)`;
  return { code: 'service-not-written', message, hint: 'Configure your service manager to run: baton up --foreground' };
}

const UNSAFE_PATH: ApiError = {
  code: 'service-not-written',
  message: 'PATH or a path of Baton contains a line break, which a service file cannot hold',
  hint: 'Correct PATH, or set BATON_STATE_DIR to another folder.',
};

export interface ServiceFacts {
  readonly node: string;
  readonly baton: string;
  readonly stateDir: string;
  /** Exists while `baton down` is in force. */
  readonly downFile: string;
  /** The PATH of the daemon and its agents, because service managers use their own. */
  readonly path: string;
}

export interface ServiceFile {
  readonly path: string;
  readonly content: string;
  /** The command to type after the file is written. */
  readonly enable: string;
  readonly disable: string;
}

/** A mark in the first lines of every service file that Baton writes. */
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
  // launchd has no conditions, so the shell checks whether `baton down` is in force.
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

/** The Node and the Baton that a service file of Baton starts; empty if the file names neither. */
export function findServicePrograms(content: string): readonly string[] {
  const systemd = /^ExecStart=("(?:[^"\\]|\\.)*") ("(?:[^"\\]|\\.)*") up --foreground$/m.exec(content);
  if (systemd !== null) return systemd.slice(1).map(unquoteSystemd);
  const launchd = [...content.matchAll(/<string>([^<]*)<\/string>/g)].map(([, text = '']) => unescapeXml(text));
  const name = launchd.indexOf('baton');
  return name < 0 ? [] : launchd.slice(name + 2, name + 4);
}

function unquoteSystemd(text: string): string {
  return text
    .slice(1, -1)
    .replaceAll('$$', '$')
    .replaceAll(/\\(["\\])/g, '$1')
    .replaceAll('%%', '%');
}

function unescapeXml(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&amp;', '&');
}

function hashOf(stateDir: string): string {
  return createHash('sha256').update(stateDir).digest('hex').slice(0, 8);
}

/** Escapes %, which systemd expands. */
function escapeSpecifiers(text: string): string {
  return text.replaceAll('%', '%%');
}

function quoteSystemd(text: string): string {
  return `"${escapeSpecifiers(text).replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
