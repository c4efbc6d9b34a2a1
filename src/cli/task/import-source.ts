import { spawn } from 'node:child_process';
import { closeSync, openSync, readSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import { EXCHANGE_LIMITS, FORMAT_NAMES, type FormatName } from '../../exchange/task.ts';
import { findProgram } from '../../notify/run-program.ts';
import { problem, type Problem, tooLarge } from '../../protocol/shape/problem.ts';
import { decodeUtf8 } from '../../protocol/text/text-format.ts';
import type { Io } from '../command.ts';
import { describeFileError } from '../problems.ts';

export interface ImportSource {
  readonly text: string;
  /** The name shown in reports. */
  readonly name: string;
}

export async function readSource(file: string, io: Io): Promise<ImportSource | Problem> {
  const name = file === '-' ? 'standard input' : basename(file);
  const bytes = file === '-' ? await io.readInput() : readAtMost(resolve(io.cwd, file));
  if (!(bytes instanceof Uint8Array)) return bytes;
  if (bytes.length > EXCHANGE_LIMITS.bytes) return tooLarge(bytes.length, EXCHANGE_LIMITS.bytes);
  const text = decodeUtf8(bytes);
  return text === undefined
    ? problem('not-utf8', 'input is not valid UTF-8', 'Save the file as UTF-8.')
    : { text, name };
}

/** Stops above the size limit, because a device may never end. */
function readAtMost(path: string): Uint8Array | Problem {
  let fd: number | undefined;
  try {
    fd = openSync(path, 'r');
    const pieces: Buffer[] = [];
    let size = 0;
    for (;;) {
      const piece = Buffer.alloc(PIECE_BYTES);
      const read = readSync(fd, piece);
      if (read > 0) pieces.push(piece.subarray(0, read));
      size += read;
      if (read === 0 || size > EXCHANGE_LIMITS.bytes) return Buffer.concat(pieces);
    }
  } catch (error) {
    const why = describeFileError(error);
    return problem(
      'unreadable-file',
      `cannot read ${path}: ${why}`,
      'Check the path, or pipe the list in and name `-`.',
    );
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
}

/** Reads the issues of the folder's repository with `gh`. */
export async function readGithubIssues(folder: string, { env }: Io): Promise<ImportSource | Problem> {
  const program = findProgram('gh', env);
  if (program === undefined) {
    const hint = 'Install gh (https://cli.github.com), or name a file with the output of `gh issue list --json …`.';
    return problem('import/no-gh', 'gh, the command line of GitHub, is not on the PATH', hint);
  }
  const ran = await runGh(program, folder, env);
  if (ran.code !== 0) {
    const firstLine = ran.err.trim().split('\n', 1)[0] ?? '';
    const isLoggedOut = ran.code === GH_NOT_LOGGED_IN || /gh auth login|authentication/i.test(ran.err);
    const hint = isLoggedOut ? 'Log in: gh auth login' : 'Try: gh issue list';
    return problem('import/gh-failed', `gh failed: ${firstLine === '' ? `exit code ${ran.code}` : firstLine}`, hint);
  }
  if (ran.out.length > EXCHANGE_LIMITS.bytes) return tooLarge(ran.out.length, EXCHANGE_LIMITS.bytes);
  const text = decodeUtf8(ran.out);
  return text === undefined
    ? problem('not-utf8', 'gh printed invalid UTF-8', 'Try: gh issue list')
    : { text, name: 'gh' };
}

const GH_NOT_LOGGED_IN = 4;
/** One more than the limit, so that too many issues are detected. */
const GH_ARGUMENTS = `issue list --state all --limit ${EXCHANGE_LIMITS.tasks + 1} --json number,title,body,state,stateReason,labels,url`;

async function runGh(
  program: string,
  cwd: string,
  env: Io['env'],
): Promise<{ readonly code: number | null; readonly out: Uint8Array; readonly err: string }> {
  return new Promise((done) => {
    const child = spawn(program, GH_ARGUMENTS.split(' '), {
      cwd,
      env: { ...env, GH_PROMPT_DISABLED: '1' },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: GH_MS,
    });
    const out: Buffer[] = [];
    let [size, err] = [0, ''];
    child.stdout.on('data', (piece: Buffer) => {
      size += piece.length;
      out.push(piece);
      if (size > EXCHANGE_LIMITS.bytes) child.kill();
    });
    child.stderr.on('data', (piece: Buffer) => {
      if (err.length < 10_000) err += piece.toString();
    });
    child.once('error', (error) => done({ code: null, out: Buffer.alloc(0), err: error.message }));
    child.once('close', (code) =>
      done({ code: size > EXCHANGE_LIMITS.bytes ? 0 : code, out: Buffer.concat(out), err }),
    );
  });
}

export function findFormatName(value: string | undefined): FormatName | undefined {
  return FORMAT_NAMES.find((each) => each === value);
}

export const TAG_OPTION = { name: 'tag', value: 'NAME', about: 'task-master: the list (default master)' } as const;

const PIECE_BYTES = 1024 * 1024;
const GH_MS = 300_000;
