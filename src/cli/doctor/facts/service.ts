import { execFile } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { basename } from 'node:path';
import { findService, findServicePrograms, SERVICE_MARK, serviceHost } from '../../daemon/service.ts';
import type { ServiceFacts } from '../checks/service.ts';
import type { Place } from '../place.ts';

export async function readServiceFacts({ env }: Place): Promise<ServiceFacts> {
  const host = serviceHost(env);
  const found = findService(host);
  if (!found.ok) return { file: null };
  const { file, before } = found;
  const isOurs = before?.includes(SERVICE_MARK) === true;
  const programs = isOurs ? findServicePrograms(before) : [];
  const isInstalled = before !== undefined;
  return {
    file: {
      path: file.path,
      content: isInstalled ? (isOurs ? 'ours' : 'foreign') : null,
      programs,
      missing: programs.filter((program) => !existsSync(program)),
      isThisBaton: programs[1] !== undefined && realpathOf(programs[1]) === realpathOf(host.baton),
      isEnabled: isOurs && host.platform === 'linux' ? await askSystemd(basename(file.path), env) : null,
      enable: file.enable,
    },
  };
}

function realpathOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Null without systemd, or if systemd does not answer. */
async function askSystemd(unit: string, env: Place['env']): Promise<boolean | null> {
  return new Promise((resolve) => {
    const options = { timeout: SYSTEMD_MS, killSignal: 'SIGKILL', env: { ...env } } as const;
    execFile('systemctl', ['--user', 'is-enabled', unit], options, (_error, printed) => {
      const [word = ''] = printed.trim().split('\n');
      resolve(/^(?:enabled|linked|static)/.test(word) ? true : /^(?:disabled|masked)/.test(word) ? false : null);
    });
  });
}

const SYSTEMD_MS = 2000;
