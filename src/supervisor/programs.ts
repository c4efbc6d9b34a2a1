import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Absolute paths of the programs that run beside the daemon; each is one file. */
export interface Programs {
  readonly supervisor: string;
  /** `baton agent hook stop`, for clients that have only command hooks. */
  readonly stopHook: string;
  readonly scripted: string;
  readonly builtin: string;
  /** Starts an ACP agent and acts as its client. */
  readonly acpDriver: string;
  /** Opens ports in a session's network namespace. */
  readonly networkHelper: string;
  /** Passes shell commands of a judging session's client to the second sandbox. */
  readonly shellForward: string;
  readonly baton: string;
}

/**
 * Finds these programs. A release contains them as bundles. In a clone they are bundled into the state folder, once per
 * process and state folder: running the source would cost each supervisor 30 MB for type stripping. Without a bundler
 * the source is run.
 */
export async function findPrograms(stateDir: string): Promise<Programs> {
  if (!existsSync(SOURCE.supervisor)) return programsIn(DIST);
  const bundling = bundled.get(stateDir) ?? bundleInto(join(stateDir, 'cache'));
  bundled.set(stateDir, bundling);
  const folder = await bundling;
  return folder === undefined ? { ...SOURCE, baton: BATON } : programsIn(folder);
}

/**
 * Node's arguments. Without JIT a supervisor needs 1.2 times the memory of a bare Node instead of 1.3. Source files
 * need the compiler.
 */
export function supervisorArgs({ supervisor }: Programs, folder: string, start: number): readonly string[] {
  const flags = supervisor.endsWith('.ts') ? [QUIET] : ['--jitless'];
  return [...flags, supervisor, folder, String(start)];
}

const ROOT = join(import.meta.dirname, '..', '..');
const DIST = join(import.meta.dirname, '..');
const BATON = join(ROOT, 'bin', 'baton.cjs');
const SOURCE = {
  supervisor: join(ROOT, 'src', 'supervisor', 'main.ts'),
  stopHook: join(ROOT, 'src', 'supervisor', 'stop-hook', 'main.ts'),
  scripted: join(ROOT, 'src', 'agents', 'scripted', 'main.ts'),
  builtin: join(ROOT, 'src', 'agents', 'builtin', 'main.ts'),
  acpDriver: join(ROOT, 'src', 'agents', 'acp', 'driver', 'main.ts'),
  networkHelper: join(ROOT, 'src', 'sandbox', 'network', 'namespace', 'helper', 'main.ts'),
  shellForward: join(ROOT, 'src', 'sandbox', 'shell', 'forward', 'main.ts'),
};

/** Bundles by state folder: one process may serve several, and the first may be deleted meanwhile. */
const bundled = new Map<string, Promise<string | undefined>>();

function programsIn(folder: string): Programs {
  return {
    supervisor: join(folder, 'supervisor.cjs'),
    stopHook: join(folder, 'hook-stop.cjs'),
    scripted: join(folder, 'scripted.cjs'),
    builtin: join(folder, 'builtin.cjs'),
    acpDriver: join(folder, 'acp-driver.cjs'),
    networkHelper: join(folder, 'network-helper.cjs'),
    shellForward: join(folder, 'shell-forward.cjs'),
    baton: BATON,
  };
}

/** Runs the bundler in a separate process, to free its memory. The folder's name is a hash of its content. */
async function bundleInto(cache: string): Promise<string | undefined> {
  const draft = join(cache, `programs-draft-${process.pid}`);
  try {
    mkdirSync(draft, { recursive: true, mode: 0o700 });
    await promisify(execFile)(process.execPath, [QUIET, join(ROOT, 'scripts', 'bundle-programs.ts'), draft]);
    const folder = join(cache, `programs-${contentHash(draft)}`);
    place(draft, folder);
    return folder;
  } catch {
    return undefined;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/** Another process may have created the same folder meanwhile. */
function place(draft: string, folder: string): void {
  if (existsSync(folder)) return;
  try {
    renameSync(draft, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  }
}

const QUIET = '--disable-warning=ExperimentalWarning';

function contentHash(folder: string): string {
  const hash = createHash('sha256');
  for (const name of readdirSync(folder).toSorted()) hash.update(name).update(readFileSync(join(folder, name)));
  return hash.digest('hex').slice(0, 16);
}
