import { type ChildProcess, spawn } from 'node:child_process';
import { isDiskFaultText, isShortageText } from '../../protocol/resource-faults.ts';
import { gitFailure, type GitFailure, type GitResult, ownEnvironment, type OwnGitFolder } from '../run-git.ts';

interface ObjectStore {
  readonly objects: string;
  readonly also?: readonly string[];
}

export interface Transfer {
  readonly from: ObjectStore;
  readonly to: ObjectStore;
  readonly wants: readonly string[];
  /** Commits that the receiver has completely. */
  readonly haves: readonly string[];
  /** Sends only objects of `from.objects` that `from.also` lacks. Sends nothing if there are none. */
  readonly isLocal?: boolean;
  /** Called with lines such as "Receiving objects: 45% (9/20)". */
  readonly onProgress?: (line: string) => void;
}

/**
 * Copies commits between object stores as one pack. Both processes use Baton's configuration, so the user's has no
 * effect. `index-pack --strict` hashes every byte and requires every referenced object: a damaged object fails the
 * transfer with an error that names it.
 */
export async function transferPack(own: OwnGitFolder, transfer: Transfer): Promise<GitResult<null>> {
  const { from, to, wants, haves, isLocal = false, onProgress } = transfer;
  const progress = onProgress === undefined ? ['-q'] : ['--progress'];
  // A few objects are sent faster without new deltas. A later repack creates them.
  const only = isLocal ? ['--local'] : [];
  const pack = ['pack-objects', '--revs', '--stdout', '--window=0', '--delta-base-offset', ...only, ...progress];
  const index = ['index-pack', '--stdin', STRICT, ...(onProgress === undefined ? [] : ['-v'])];
  const sender = start(own, pack, from);
  const receiver = start(own, index, to);
  let isStalled = false;
  const stall = setTimeout(() => {
    isStalled = true;
    for (const child of [sender, receiver]) child.kill('SIGTERM');
  }, STALL_MS);
  const ends = Promise.all([endOf(sender, stall, onProgress), endOf(receiver, stall, onProgress)]);
  let isEmpty = false;
  sender.stdout?.on('data', () => stall.refresh());
  sender.stdout?.once('data', (first: Buffer) => {
    isEmpty = isLocal && first.length >= HEADER_BYTES && first.readUInt32BE(HEADER_BYTES - 4) === 0;
    // Without this, the receiver would store an empty pack.
    if (isEmpty || receiver.stdin === null) return;
    receiver.stdin.write(first);
    sender.stdout?.pipe(receiver.stdin);
  });
  sender.stdout?.once('end', () => receiver.stdin?.end());
  // The exit code and output explain why a process ended early.
  for (const stream of [sender.stdin, receiver.stdin]) stream?.on('error', () => undefined);
  receiver.stdin?.on('close', () => sender.stdout?.resume());
  receiver.stdout?.resume();
  sender.stdin?.end(`${[...wants, ...haves.map((sha) => `^${sha}`)].join('\n')}\n`);
  const [sent, received] = await ends;
  clearTimeout(stall);
  if (sent.code === 0 && (received.code === 0 || isEmpty)) return { ok: true, value: null };
  if (isStalled)
    return gitFailure('git/timeout', `copying ${wants[0] ?? ''} made no progress for ${STALL_MS} ms`, DAMAGED_HINT);
  // If the sender fails, the receiver fails too, so the sender's reason is the cause.
  return failureOf(sent.code === 0 ? received.stderr : sent.stderr, wants);
}

/** Harmless oddities of old histories. Checks that protect the file system stay errors. */
export const IGNORED_MISTAKES: readonly string[] = (
  'badDate badDateOverflow badEmail badTimezone emptyName extraHeaderEntry missingAuthor missingEmail ' +
  'missingNameBeforeEmail missingSpaceBeforeDate missingSpaceBeforeEmail missingTagEntry ' +
  'missingTaggerEntry multipleAuthors zeroPaddedDate zeroPaddedFilemode'
).split(' ');
const STRICT = `--strict=${IGNORED_MISTAKES.map((mistake) => `${mistake}=ignore`).join(',')}`;

/** A pack starts with `PACK`, a version and the number of its objects. */
const HEADER_BYTES = 12;

/** An agent may put a pipe in place of an object, and reading it would never end. */
const STALL_MS = 120_000;

export const DAMAGED_HINT = 'Find damaged objects: git fsck. Then fetch them again from a remote, or restore a backup.';

function start(own: OwnGitFolder, args: readonly string[], { objects, also = [] }: ObjectStore): ChildProcess {
  const env = {
    ...ownEnvironment(own.gitDir),
    GIT_OBJECT_DIRECTORY: objects,
    ...(also.length === 0 ? {} : { GIT_ALTERNATE_OBJECT_DIRECTORIES: also.map(quotedPath).join(':') }),
  };
  return spawn('git', [...args], { cwd: own.gitDir, env, windowsHide: true });
}

/** Quotes a path as this variable requires: a colon or quote would end it. */
export function quotedPath(path: string): string {
  return `"${path.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
}

async function endOf(
  child: ChildProcess,
  stall: NodeJS.Timeout,
  onProgress?: (line: string) => void,
): Promise<{ readonly code: number | null; readonly stderr: string }> {
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stall.refresh();
    stderr = (stderr + text).slice(-MAX_MESSAGE_CHARACTERS);
    const line = text.split(/[\r\n]/).findLast((each) => each.includes('%'));
    if (line !== undefined) onProgress?.(line.trim());
  });
  return new Promise((resolve) => {
    child.on('error', (error) => resolve({ code: null, stderr: `fatal: cannot run git: ${error.message}` }));
    child.on('close', (code) => resolve({ code, stderr }));
  });
}

function failureOf(stderr: string, wants: readonly string[]): GitFailure {
  if (isDiskFaultText(stderr) || isShortageText(stderr)) return noRoom(stderr, wants);
  const lines = stderr.split(/[\r\n]/).filter((line) => /^(?:fatal|error): /.test(line));
  const why = lines.join('; ').replaceAll(/(?:fatal|error): /g, '');
  const named = lines.flatMap((line) => /\b[0-9a-f]{40}(?:[0-9a-f]{24})?\b/.exec(line)?.[0] ?? []);
  const [object] = named;
  if (object === undefined) {
    const message = `copying ${wants.join(', ')} failed: ${why || stderr.trim().slice(-1000)}`;
    return gitFailure('git/failed', message, DAMAGED_HINT);
  }
  const about = wants.includes(object) ? `commit ${object}` : `object ${object} (part of ${wants.join(', ')})`;
  return gitFailure('git/damaged-object', `${about} is missing or damaged in the repository: ${why}`, DAMAGED_HINT);
}

function noRoom(stderr: string, wants: readonly string[]): GitFailure {
  const why = stderr.split(/[\r\n]/).findLast((line) => isDiskFaultText(line) || isShortageText(line));
  const message = `copying ${wants.join(', ')} failed: ${why ?? ''}`;
  return isDiskFaultText(stderr)
    ? gitFailure('git/disk', message, 'Free space on that disk, or make it writable; then try again.')
    : gitFailure('git/no-descriptors', message, 'Raise the limits before the daemon starts: ulimit -n, ulimit -u.');
}

const MAX_MESSAGE_CHARACTERS = 20_000;
