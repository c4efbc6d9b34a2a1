import { randomUUID } from 'node:crypto';
import { closeSync, existsSync, lstatSync, mkdirSync, openSync, readFileSync, readSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { findClient } from '../../agents/capabilities/clients.ts';
import { writeBelow } from '../../api/write-below.ts';
import type { Mount, SandboxSpec } from '../../protocol/sandbox.ts';
import { readMachine } from '../../sandbox/machine.ts';
import { homeInside } from '../../sandbox/plan/home-rules.ts';
import { isInside, pathBelow, stepsOf } from '../../sandbox/plan/paths.ts';
import { planShellMounts, SHELL_INSIDE, SHELL_PROGRAM } from '../../sandbox/plan/shell-mounts.ts';
import type { ForwardSettings } from '../../sandbox/shell/forward/local.ts';
import { SOCKET } from '../../sandbox/shell/shell-server.ts';
import type { Launch } from '../../supervisor/contract.ts';
import type { Programs } from '../../supervisor/programs.ts';

/** A judging session whose shell is to be separated. */
export interface SeparatedSession {
  readonly run: string;
  readonly runFolder: string;
  readonly bin: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The client's own program. */
  readonly program: string;
  /** Shell commands that the client itself runs. */
  readonly commands: readonly string[];
  readonly worktree: string;
  /** See `Adapter`. */
  readonly projectSettings: readonly string[];
  /** The variable with the folder in which the client's shell leaves files for the client. */
  readonly tmpVariable?: string | undefined;
  /** Variables of the client: names, or prefixes with `*`. */
  readonly variables: readonly string[];
}

/**
 * Gives the shell commands of a judging session a sandbox of their own, in which no token, no login and no process of
 * the client is visible: they run the code under judgement. Where that is not possible, a note says why, and the record
 * of the session says that its shell is not separate.
 */
export function separateShell(launch: Launch, session: SeparatedSession, programs: Programs): Launch {
  const { judge, sandbox } = launch;
  if (judge === undefined || sandbox === undefined) return launch;
  if (sandbox.kind !== 'bubblewrap') return withNote(launch, sandbox, `the mode ${sandbox.kind} has only one sandbox`);
  // A namespace inside would bring back what the filter refuses.
  const guarded: SandboxSpec = { ...sandbox, nested: false, refusesTracing: true };
  // A client that cannot send its verdict by itself needs its token in the shell. A person confirms that verdict.
  if (!judge.stream) return { ...launch, sandbox: guarded };
  const refusal = findRefusal(session);
  if (refusal !== undefined) return withNote(launch, guarded, refusal);
  const settingsOfBranch = findProjectSettings(launch.cwd, session);
  const link = settingsOfBranch.find(({ kind }) => kind === 'link');
  if (link !== undefined) return withNote(launch, guarded, `${link.path} is a link`);
  const { runFolder, bin, env } = session;
  const own = join(runFolder, 'sandbox');
  const [home, shellHome, folder] = [join(own, 'home'), join(own, 'shell-home'), join(own, 'shell')];
  const machine = readMachine(env);
  const shared = [...sandbox.temporary, bin, ...sandbox.layers.map((layer) => layer.folder)];
  const planned = planShellMounts(machine, guarded, { home, shellHome, runFolder, shared, folder });
  if (!planned.ok) return withNote(launch, guarded, planned.reason);
  copySettings(guarded.mounts, home, shellHome);
  const nonce = randomUUID();
  const settings: ForwardSettings = {
    socket: `${SHELL_INSIDE}/${SOCKET}`,
    real: planned.real,
    commands: session.commands,
    baton: join(bin, 'baton'),
    launcher: findLauncher(session),
    nonce,
  };
  const { TMPDIR = '/tmp', TMP, TEMP, XDG_RUNTIME_DIR = '/tmp' } = guarded.env;
  return {
    ...launch,
    judge: { ...judge, shell: true },
    files: [...(launch.files ?? []), programFile(join(folder, SHELL_PROGRAM), settings, programs)],
    sandbox: {
      ...guarded,
      mounts: [...guarded.mounts, ...settingsOfBranch.flatMap(hide), ...planned.client],
      network: { ...guarded.network, port: null },
      // The client may load what it wrote here, so commands do not see it. They share /tmp.
      env: {
        ...guarded.env,
        TMPDIR: XDG_RUNTIME_DIR,
        TMP: XDG_RUNTIME_DIR,
        TEMP: XDG_RUNTIME_DIR,
        ...(session.tmpVariable === undefined ? {} : { [session.tmpVariable]: TMPDIR }),
      },
      shell: {
        folder,
        home: shellHome,
        mounts: planned.commands,
        network: { ...guarded.network, inject: [] },
        // Clients filter what they pass, so that `baton` could not say why it has no token.
        env: { ...present({ TMPDIR, TMP, TEMP }), HOME: homeInside(machine), BATON_JUDGE: '1' },
        withheld: [...WITHHELD, ...session.variables],
      },
    },
  };
}

const WITHHELD = ['BATON_TOKEN', 'BATON_URL', 'BATON_BESIDE', 'BATON_AGENT_DIR', 'BATON_PROMPT_FILE'];

/** Why the client's shell cannot be separated; undefined if it can. */
function findRefusal({ run }: SeparatedSession): string | undefined {
  if (findClient(run)?.capabilities.shell !== 'separate') return 'Baton does not know how its client runs them';
  // The kernel reads as much of a script's first line.
  const isTooLong = process.execPath.length > 200 || /\s/.test(process.execPath);
  return isTooLong ? 'the path of Node does not fit into the first line of a script' : undefined;
}

interface FoundPath {
  readonly path: string;
  readonly kind: 'folder' | 'file' | 'link';
}

/** The branch's settings for the client, from the working folder up to the worktree. */
function findProjectSettings(cwd: string, { worktree, projectSettings }: SeparatedSession): readonly FoundPath[] {
  const folders = stepsOf(`/${pathBelow(cwd, worktree)}`).map((step) => join(worktree, step));
  return [worktree, ...folders].flatMap((folder) =>
    projectSettings.flatMap((name): FoundPath[] => {
      const path = join(folder, name);
      const stats = lstatSync(path, { throwIfNoEntry: false });
      if (stats === undefined) return [];
      return [{ path, kind: stats.isSymbolicLink() ? 'link' : stats.isDirectory() ? 'folder' : 'file' }];
    }),
  );
}

function hide({ path, kind }: FoundPath): readonly Mount[] {
  return [{ kind: kind === 'folder' ? 'empty' : 'masked', at: path }];
}

/** The path at which the client is found, if it is a shell script that starts the client's program. */
function findLauncher({ program, env }: SeparatedSession): string | null {
  const folders = (env['PATH'] ?? '').split(':');
  const places = program.includes('/') ? [program] : folders.map((each) => join(each, program));
  const found = places.find((each) => existsSync(each));
  return found !== undefined && isShellScript(found) ? found : null;
}

function isShellScript(path: string): boolean {
  const start = Buffer.alloc(200);
  const file = openSync(path, 'r');
  try {
    readSync(file, start);
  } finally {
    closeSync(file);
  }
  return /^#!.*\b(?:ba|da|z|k|a)?sh\b/.test(start.toString('latin1'));
}

function withNote(launch: Launch, sandbox: SandboxSpec, reason: string): Launch {
  const note = `Shell commands of this session share the sandbox of its client: ${reason}.`;
  return { ...launch, sandbox: { ...sandbox, notes: [...sandbox.notes, note] } };
}

/** The settings of tools, such as git's, that Baton copied for the client. The client's own are in other folders. */
function copySettings(mounts: readonly Mount[], home: string, shellHome: string): void {
  mkdirSync(shellHome, { recursive: true, mode: 0o700 });
  for (const mount of mounts) {
    if (mount.kind !== 'write' || mount.from === home || !isInside(mount.from, home)) continue;
    const path = pathBelow(mount.from, home);
    const isFile = statSync(mount.from, { throwIfNoEntry: false })?.isFile() === true;
    if (isFile && !existsSync(join(shellHome, path))) writeBelow(shellHome, path, readFileSync(mount.from, 'utf8'));
  }
}

/** A file that the kernel starts as a program: Node with the settings of this session. */
function programFile(path: string, settings: ForwardSettings, { shellForward }: Programs) {
  const load = `require(${JSON.stringify(shellForward)}).forward(${JSON.stringify(settings)})`;
  return { path, content: `#!${process.execPath}\n${load}\n`, mode: 0o755 };
}

function present(env: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(env).filter((pair): pair is [string, string] => pair[1] !== undefined));
}
