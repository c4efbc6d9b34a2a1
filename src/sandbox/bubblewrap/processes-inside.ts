import { readFileSync } from 'node:fs';
import { listLiving } from '../../api/processes.ts';

/**
 * The processes in the sandbox below a process, with their pids outside, parents first. A signal to bubblewrap itself,
 * or to the first process inside, ends all of them at once: for a gentle end, signal these.
 */
export function processesInside(leader: number): number[] {
  const living = listLiving();
  const below = new Set([leader]);
  // The list may have children before their parents.
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

/** Reports whether a process is in another PID namespace than this process. */
export function isInNamespace(pid: number): boolean {
  return namespacePids(pid).length > namespacePids(process.pid).length;
}

/** The pids of a process in each of its PID namespaces, the outermost first. */
function namespacePids(pid: number): string[] {
  try {
    const [, pids = ''] = /^NSpid:\s+(.*)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return pids.split(/\s+/);
  } catch {
    return [];
  }
}
