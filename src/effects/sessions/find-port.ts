import { readdir } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { findRepository } from '../../git/repository.ts';
import { readWorktreeNote, writeWorktreeNote } from '../../git/worktree/worktree-note.ts';

/** Above what most programs take by themselves, and below what systems give out at random. */
const FIRST = 3100;
const LAST = 9999;

/** The port of a worktree: the one it has, else the first that no other worktree has and that nobody listens on. */
export async function findPort(worktree: string): Promise<number | null> {
  const own = await findRepository(worktree);
  if (!own.ok) return null;
  const note = readWorktreeNote(own.value.gitDir);
  if (note.port !== null) return note.port;
  const taken = await takenPorts(own.value.commonDir);
  for (let port = FIRST; port <= LAST; port++) {
    if (taken.has(port) || !(await isFree(port))) continue;
    writeWorktreeNote(own.value.gitDir, { ...note, port });
    return port;
  }
  return null;
}

/** Of all worktrees, from where git keeps what it knows of them. */
async function takenPorts(commonDir: string): Promise<ReadonlySet<number>> {
  const folder = join(commonDir, 'worktrees');
  const names = await readdir(folder).catch(() => []);
  const ports = names.map((name) => readWorktreeNote(join(folder, name)).port);
  return new Set(ports.filter((port) => port !== null));
}

async function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}
