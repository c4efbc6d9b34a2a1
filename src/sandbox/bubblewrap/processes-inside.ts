import { readFileSync } from 'node:fs';
import { listLiving } from '../../api/processes.ts';

/**
 * The processes in the sandbox below a process, with their pids outside. A signal to bubblewrap itself, or to the first
 * process inside, ends all of them at once: for a gentle end, signal these. Parents come before their children.
 */
export function processesInside(leader: number): number[] {
  const living = listLiving();
  const below = new Set([leader]);
  // Parents may come after their children in the list.
  for (let size = 0; size !== below.size;) {
    size = below.size;
    for (const { pid, parent } of living) if (below.has(parent)) below.add(pid);
  }
  const depth = namespacePids(process.pid).length;
  return [...below].filter((pid) => {
    const inside = namespacePids(pid)[depth];
    return inside !== undefined && inside !== '1';
  });
}

/** Whether a process is in another PID namespace than this one. */
export function isInNamespace(pid: number): boolean {
  return namespacePids(pid).length > namespacePids(process.pid).length;
}

/** The pids of a process in each PID namespace that it belongs to, the outermost first. */
function namespacePids(pid: number): string[] {
  try {
    const [, pids = ''] = /^NSpid:\s+(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return pids.split(/\s+/);
  } catch {
    return [];
  }
}
