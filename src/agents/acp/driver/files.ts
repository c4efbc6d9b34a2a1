import {
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve } from 'node:path';
import { RPC, RpcError } from '../../../acp/connection.ts';
import { type Fields, numberOf, textOf } from '../../../protocol/shape/read-unknown.ts';

/**
 * `fs/read_text_file` and `fs/write_text_file`. The driver has the same rights as the agent, so these methods grant
 * nothing new. Paths outside the worktree are still refused, after links are resolved.
 */
export class ClientFiles {
  readonly #worktree: string;

  constructor(worktree: string) {
    this.#worktree = realpathSync(worktree);
  }

  read({ path, line, limit }: Fields): { readonly content: string } {
    const text = this.#use(path, O_RDONLY, (file, size) => {
      if (size > MAX_BYTES) throw refusal(path, `it has more than ${MAX_BYTES} bytes`);
      return readFileSync(file, 'utf8');
    });
    if (line === undefined && limit === undefined) return { content: text };
    const from = Math.max(numberOf(line), 1) - 1;
    const count = typeof limit === 'number' ? limit : Infinity;
    return {
      content: text
        .split('\n')
        .slice(from, from + count)
        .join('\n'),
    };
  }

  write({ path, content }: Fields): object {
    if (typeof content !== 'string') throw new RpcError(RPC.invalidParams, 'content must be a string');
    if (Buffer.byteLength(content) > MAX_BYTES) throw refusal(path, `the text has more than ${MAX_BYTES} bytes`);
    attempt(() => mkdirSync(dirname(this.#resolve(path)), { recursive: true }), path);
    this.#use(path, O_WRONLY | O_CREAT, (file) => {
      ftruncateSync(file);
      writeFileSync(file, content);
    });
    return {};
  }

  /**
   * Checks the opened file and its location, because a link or a named pipe may have replaced the file in the meantime.
   */
  #use<T>(path: unknown, flags: number, work: (file: number, size: number) => T): T {
    return attempt(() => {
      const file = openSync(this.#resolve(path), flags | O_NOFOLLOW | O_NONBLOCK);
      try {
        const opened = fstatSync(file);
        const { dev, ino } = statSync(this.#resolve(path));
        if (!opened.isFile()) throw refusal(path, 'it is not a file');
        if (opened.dev !== dev || opened.ino !== ino) throw refusal(path, 'it was replaced meanwhile');
        return work(file, opened.size);
      } finally {
        closeSync(file);
      }
    }, path);
  }

  /** Returns the real path. For a file that does not exist, resolves the nearest existing folder. */
  #resolve(path: unknown): string {
    if (typeof path !== 'string' || !isAbsolute(path) || path.includes('\0'))
      throw new RpcError(RPC.invalidParams, 'path must be an absolute path');
    const real = realPath(resolve(path));
    const inside = relative(this.#worktree, real);
    if (inside === '' || inside === '..' || inside.startsWith('../'))
      throw refusal(path, 'it is outside of the worktree');
    return real;
  }
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    const parent = dirname(path);
    // A dangling link has no real path, and writing through it would create its target.
    if (codeOf(error) !== 'ENOENT' || parent === path || isLink(path)) throw refusal(path, 'it cannot be resolved');
    return join(realPath(parent), path.slice(parent.length + (parent === '/' ? 0 : 1)));
  }
}

function isLink(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
}

function attempt<T>(work: () => T, path: unknown): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof RpcError) throw error;
    throw codeOf(error) === 'ENOENT'
      ? new RpcError(RPC.notFound, `${textOf(path)} does not exist`)
      : refusal(path, codeOf(error) || 'it cannot be used');
  }
}

function refusal(path: unknown, why: string): RpcError {
  return new RpcError(RPC.invalidParams, `${textOf(path)}: ${why}`);
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

const { O_RDONLY, O_WRONLY, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants;
const MAX_BYTES = 10 * 1024 * 1024;
