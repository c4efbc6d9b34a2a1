import type { SandboxKind } from '../protocol/sandbox.ts';

/** Whether a mode provides a protection. The last two forms refer to a note below the table. */
type Held = 'yes' | 'no' | `partly: ${NoteName}` | `yes: ${NoteName}`;

const NOTES = {
  modes: 'By file modes: what others may read or write, the session may too.',
  image: 'As far as the image and its mounts go; what is in the image is visible.',
  pids: 'Processes of its own user id, and those that it can see but not signal.',
  group: 'If Baton can make a control group; otherwise only its own processes are ended.',
  host: 'If neither pasta nor slirp4netns is installed, `full` is the network of the host, with all its ports and abstract sockets. The session says so.',
  limit:
    'With control groups. With rlimits memory is limited for each process; as root without control groups the number of processes is not limited.',
  disk: 'Measured once a second, so a fast writer exceeds the limit for a moment. A single file cannot.',
  profile: 'By the text of a profile that macOS calls deprecated; tests check only its text.',
  copy: 'Settings that the copy contains are visible, such as the login of the client.',
  checked: 'By file modes, which are checked before each start: a session that could write them does not start.',
  others: 'All sessions are the same user: they can write the worktrees of other sessions that run.',
  root: 'If the daemon runs as root. Otherwise sessions are on the network of the host.',
  engine: 'If the engine has control groups; otherwise the memory of a container has no limit.',
  docker: 'Tested with podman. For docker only the generated command line is tested.',
} as const;
type NoteName = keyof typeof NOTES;

/** The columns, and a short description of each. */
export const MODE_NAMES: Readonly<Record<SandboxKind, string>> = {
  bubblewrap: 'Linux namespaces',
  container: 'podman or docker',
  user: 'another user id',
  'sandbox-exec': 'macOS only, never chosen by `auto`',
  none: 'a process of your user',
};

/** One row for each protection. The code reads it too: see `holds`. */
const TABLE = {
  'operator token and key': row('yes', 'yes', 'yes', 'partly: profile', 'no'),
  'state folder': row('yes', 'yes', 'yes', 'partly: profile', 'no'),
  'main checkout': row('yes', 'yes', 'partly: modes', 'partly: profile', 'no'),
  'other worktrees': row('yes', 'yes', 'partly: others', 'partly: profile', 'no'),
  'objects and refs of the repository': row('yes', 'yes', 'yes: checked', 'partly: profile', 'no'),
  'git configuration and hooks': row('yes', 'yes', 'yes: checked', 'partly: profile', 'no'),
  'real configuration of the client': row('yes: copy', 'yes: copy', 'yes: copy', 'partly: profile', 'no'),
  'secrets in HOME': row('yes', 'yes', 'partly: modes', 'partly: profile', 'no'),
  'other files of the machine': row('yes', 'partly: image', 'partly: modes', 'partly: profile', 'no'),
  'other processes': row('yes', 'yes', 'partly: pids', 'no', 'no'),
  'end at the timeout': row('yes', 'yes', 'partly: group', 'no', 'no'),
  'ports of the daemon and of the page': row('partly: host', 'partly: host', 'partly: root', 'partly: profile', 'no'),
  'ports of other sessions': row('partly: host', 'partly: host', 'partly: root', 'no', 'no'),
  'cloud metadata addresses': row('partly: host', 'partly: host', 'partly: root', 'no', 'no'),
  'network policy': row('yes', 'yes', 'partly: root', 'partly: profile', 'no'),
  'injected secrets': row('yes', 'yes', 'yes', 'no', 'no'),
  'number of processes': row('yes: limit', 'yes: limit', 'partly: limit', 'no', 'no'),
  memory: row('yes: limit', 'partly: engine', 'partly: limit', 'no', 'no'),
  disk: row('yes: disk', 'yes: disk', 'yes: disk', 'no', 'no'),
  'dangerous system calls': row('yes', 'yes', 'no', 'no', 'no'),
} as const;

export type Protection = keyof typeof TABLE;

const MODES = ['bubblewrap', 'container', 'user', 'sandbox-exec', 'none'] as const satisfies readonly SandboxKind[];

function row(...cells: readonly [Held, Held, Held, Held, Held]): Readonly<Record<SandboxKind, Held>> {
  const [bubblewrap, container, user, exec, none] = cells;
  return { bubblewrap, container, user, 'sandbox-exec': exec, none };
}

/** Reports whether a mode provides a protection, fully or in part. */
export function holds(kind: SandboxKind, protection: Protection): boolean {
  return TABLE[protection][kind] !== 'no';
}

/** The protections that a mode does not provide at all, for people. */
export function missingProtections(kind: SandboxKind): Protection[] {
  return PROTECTIONS.filter((protection) => !holds(kind, protection));
}

const PROTECTIONS = Object.keys(TABLE).filter((name): name is Protection => name in TABLE);

/** Sorts modes; the one with most protections comes first. */
export function byStrength<Kind extends SandboxKind>(kinds: readonly Kind[]): Kind[] {
  const weight = (cell: Held): number => (cell.startsWith('yes') ? 2 : cell === 'no' ? 0 : 1);
  const strength = (kind: Kind): number => PROTECTIONS.reduce((sum, name) => sum + weight(TABLE[name][kind]), 0);
  return kinds.toSorted((a, b) => strength(b) - strength(a));
}

/** The table as Markdown. Notes are numbered in the order in which they occur. */
export function renderModes(): string {
  const notes: NoteName[] = [];
  const numberOf = (name: NoteName): number => {
    if (!notes.includes(name)) notes.push(name);
    return notes.indexOf(name) + 1;
  };
  const cell = (held: Held): string => {
    const [word = '', name] = held.split(': ');
    const note = NOTE_NAMES.find((each) => each === name);
    return note === undefined ? word : `${word} (${numberOf(note)})`;
  };
  const head = MODES.map((kind) => (kind === 'container' ? `\`${kind}\` (${numberOf('docker')})` : `\`${kind}\``));
  const rows = PROTECTIONS.map((name) => `| ${name} | ${MODES.map((kind) => cell(TABLE[name][kind])).join(' | ')} |`);
  return [
    `| protects | ${head.join(' | ')} |`,
    `|---|${MODES.map(() => '---').join('|')}|`,
    `| | ${MODES.map((kind) => MODE_NAMES[kind]).join(' | ')} |`,
    ...rows,
    '',
    ...notes.map((name, i) => wrap(`${i + 1}. ${NOTES[name]}`, `${i + 1}. `.length)),
  ].join('\n');
}

function wrap(text: string, indent: number): string {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last === undefined || last.length + word.length >= MAX_COLUMNS)
      lines.push(`${last === undefined ? '' : ' '.repeat(indent)}${word}`);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines.join('\n');
}

const MAX_COLUMNS = 120;

const NOTE_NAMES = Object.keys(NOTES).filter((name): name is NoteName => name in NOTES);
