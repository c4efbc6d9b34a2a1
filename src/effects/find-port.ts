import { createServer } from 'node:net';
import { findRepository } from '../git/repository.ts';
import { readNote, writeNote } from '../git/worktree-note.ts';
import { listWorktrees } from '../git/worktrees.ts';

/** Above what most programs take by themselves, and below what systems give out at random. */
const FIRST = 3100;
const LAST = 9999;

/** The port of a worktree: the one it has, else the first that no other worktree has and that nobody listens on. */
export async function findPort(worktree: string): Promise<number | null> {
  const own = await findRepository(worktree);
  if (!own.ok) return null;
  const note = readNote(own.value.gitDir);
  if (note.port !== null) return note.port;
  const taken = await takenPorts(worktree);
  for (let port = FIRST; port <= LAST; port++) {
    if (taken.has(port) || !(await isFree(port))) continue;
    writeNote(own.value.gitDir, { ...note, port });
    return port;
  }
  return null;
}

async function takenPorts(worktree: string): Promise<ReadonlySet<number>> {
  const all = await listWorktrees(worktree);
  const taken = new Set<number>();
  for (const { path, isMissing } of all.ok ? all.value : []) {
    const found = isMissing ? undefined : await findRepository(path);
    const port = found?.ok === true ? readNote(found.value.gitDir).port : null;
    if (port !== null) taken.add(port);
  }
  return taken;
}

async function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen({ port, host: '127.0.0.1', exclusive: true }, () => server.close(() => resolve(true)));
  });
}
