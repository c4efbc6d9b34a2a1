import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, isAbsolute, join } from 'node:path';
import type { ApiError } from '../../api/answer.ts';
import { findStateDir, stateFiles } from '../../api/state-folder.ts';
import { renderLaunchdPlist, SERVICE_MARK, renderSystemdUnit, type ServiceFile } from './service-file.ts';

export interface ServiceHost {
  readonly platform: NodeJS.Platform;
  readonly node: string;
  readonly baton: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export type ServiceResult =
  | { readonly ok: true; readonly file: ServiceFile; readonly did: 'written' | 'removed' | 'absent' }
  | { readonly ok: false; readonly error: ApiError };

/** Writes the service file of the state folder that this environment names. A file that Baton did not write is left alone. */
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

export function uninstallService(host: ServiceHost): ServiceResult {
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

function findService({ platform, node, baton, env }: ServiceHost): FoundService {
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

/** A file that cannot be read is not one that may be replaced. */
function withContent(file: ServiceFile): FoundService {
  try {
    return { ok: true, file, before: readFileSync(file.path, 'utf8') };
  } catch (error) {
    const isAbsent = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    return isAbsent ? { ok: true, file, before: undefined } : { ok: false, error: notOurFileError(file.path) };
  }
}

function notOurFileError(path: string): ApiError {
  const hint = 'Move that file away, or keep it and start the daemon from it with: baton up --foreground';
  return { code: 'service-not-ours', message: `${path} was not written by Baton, and is left as it is`, hint };
}

function cannotWriteError(path: string, error: unknown): ApiError {
  const why = error instanceof Error ? error.message : String(error);
  return {
    code: 'service-not-written',
    message: `${path} cannot be written: ${why}`,
    hint: 'Check who owns its folder.',
  };
}

function unsupportedError(platform: string): ApiError {
  const message = `there is no service file for ${platform}: only for systemd (Linux) and launchd (macOS)`;
  return { code: 'service-not-written', message, hint: 'Let your service manager run: baton up --foreground' };
}

const UNSAFE_PATH: ApiError = {
  code: 'service-not-written',
  message: 'PATH or a path of Baton has a line break in it, which no service file can hold',
  hint: 'Correct PATH, or name another state folder in BATON_STATE_DIR.',
};
