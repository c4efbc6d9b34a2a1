import { lstatSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { listFolderIfPresent } from '../../api/files.ts';
import type { SandboxSpec } from '../../protocol/sandbox.ts';
import type { Problem } from '../../protocol/shape/problem.ts';
import { renderSeccomp } from '../plan/seccomp/render-seccomp.ts';
import { bubblewrapArgv, type BubblewrapRequest } from './argv.ts';
import { closeInheritedDescriptors } from './close-inherited.ts';
import { settleMounts } from './settle-mounts.ts';
import { groupInside, passwdInside } from './users.ts';

export interface BubblewrapStart extends Pick<
  BubblewrapRequest,
  'bwrap' | 'argv' | 'cwd' | 'enter' | 'unsharesNet' | 'isTerminal' | 'folder' | 'procs' | 'prlimit' | 'env'
> {
  readonly spec: Pick<SandboxSpec, 'system' | 'mounts' | 'nested' | 'limits' | 'env' | 'refusesTracing'>;
  /** The text of resolv.conf inside; null if the outside file is used. */
  readonly resolvConf: string | null;
}

export type PreparedStart =
  | { readonly ok: true; readonly argv: readonly string[]; readonly notes: readonly string[] }
  | { readonly ok: false; readonly problem: Problem };

/**
 * Writes the files that bubblewrap reads at its start, and returns the command to spawn. `folder` must exist. If
 * another process spawns the command, that process calls `closeInheritedDescriptors` first.
 */
export function prepareBubblewrap(start: BubblewrapStart): PreparedStart {
  const { spec } = start;
  closeInheritedDescriptors();
  const settled = settleMounts(spec.system, spec.mounts);
  if (!settled.ok) return settled;
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
  const seccomp = renderSeccomp(process.arch, spec);
  const command = bubblewrapArgv({
    ...start,
    spec: { ...spec, system: settled.system, mounts: settled.mounts },
    seccomp,
    replaced: [
      replace('/etc/passwd', (text) => passwdInside(text, uid, spec.env['HOME'] ?? '/')),
      replace('/etc/group', (text) => groupInside(text, gid)),
      replace('/etc/resolv.conf', () => start.resolvConf ?? undefined),
    ].flat(),
    proc: uid === 0 ? findProcOfRoot() : { folders: [], files: [], readOnly: [] },
    uid,
    gid,
  });
  for (const { path, content } of command.files) writeFileSync(path, content, { mode: 0o600 });
  const missing = `There is no system call filter for ${process.arch}.`;
  return { ok: true, argv: command.argv, notes: seccomp === undefined ? [missing] : [] };
}

/** Replaces the target of a link, because bubblewrap cannot mount over a link. */
function replace(path: string, render: (text: string) => string | undefined): { at: string; text: string }[] {
  try {
    const at = realpathSync(path);
    const text = render(readFileSync(at, 'utf8'));
    return text === undefined ? [] : [{ at, text }];
  } catch {
    // If the file does not exist, nothing is replaced.
    return [];
  }
}

/**
 * Finds paths in /proc to protect. If Baton runs as root, the session's user id outside is 0, so it could write the
 * kernel's settings and read what only root may read. Bubblewrap protects only what is writable as a whole.
 */
function findProcOfRoot(): BubblewrapRequest['proc'] {
  const names = listFolderIfPresent('/proc').filter((name) => !/^\d/.test(name) && !HARMLESS.has(name));
  const found = names.flatMap((name) => {
    const stats = lstatSync(`/proc/${name}`, { throwIfNoEntry: false });
    return stats === undefined ? [] : [{ path: `/proc/${name}`, stats }];
  });
  const isOfRoot = (mode: number): boolean => (mode & 0o200) !== 0 || (mode & 0o004) === 0;
  return {
    readOnly: ['/proc/sys'],
    folders: found.filter(({ path, stats }) => stats.isDirectory() && path !== '/proc/sys').map(({ path }) => path),
    files: found.filter(({ stats }) => stats.isFile() && isOfRoot(stats.mode)).map(({ path }) => path),
  };
}

const HARMLESS: ReadonlySet<string> = new Set(['pressure', 'sysvipc', 'tty']);
