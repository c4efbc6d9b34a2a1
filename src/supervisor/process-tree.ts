import { readdirSync, readFileSync } from 'node:fs';

/** Everything that one run has started: who is in its process group, and who left it but still has its mark in the environment. */
export interface ProcessTree {
  /** Number of the process that leads the group; the group has the same. */
  readonly leader: number;
  /** `NAME=value`, as the first process got it and passed it on. */
  readonly mark: string;
}

/** The numbers of those that live. A zombie answers signals, but it is dead: nobody has collected it yet. */
export function findAlive({ leader, mark }: ProcessTree): number[] {
  const text = `\0${mark}\0`;
  const alive: number[] = [];
  for (const name of listProcesses()) {
    const pid = Number(name);
    if (pid === process.pid) continue;
    const { state, group } = statOf(name);
    if (state === '' || state === 'Z' || state === 'X') continue;
    if (group === leader || `\0${readOf(name, 'environ')}`.includes(text)) alive.push(pid);
  }
  return alive;
}

/**
 * Ends them all: asked first, and killed `killAfterMs` later. Resolves when none is left. A process may start another while it is
 * being ended, and one that left the group gets no signal that is sent to it, so we look again until nobody is there. The group goes
 * before those that left it: a client whose tool is ended under it would go and tell its model, and do what that says next.
 */
export async function endProcesses(tree: ProcessTree, killAfterMs: number): Promise<void> {
  const killAt = performance.now() + killAfterMs;
  const allAt = killAt - killAfterMs / 2;
  const asked = new Set<number>();
  for (let waitMs = FIRST_LOOK_MS; ; waitMs = Math.min(waitMs * 2, LAST_LOOK_MS)) {
    const alive = findAlive(tree);
    if (alive.length === 0) return;
    const leftMs = killAt - performance.now();
    const group = alive.filter((pid) => statOf(String(pid)).group === tree.leader);
    for (const pid of group.length === 0 || performance.now() > allAt ? alive : group) {
      if (leftMs <= 0) signal(pid, 'SIGKILL');
      else if (!asked.has(pid)) signal(pid, 'SIGTERM');
      asked.add(pid);
    }
    await pause(leftMs > 0 ? Math.min(waitMs, leftMs) : waitMs);
  }
}

const FIRST_LOOK_MS = 5;
const LAST_LOOK_MS = 100;

function listProcesses(): string[] {
  try {
    return readdirSync('/proc').filter((name) => name.charCodeAt(0) <= 57);
  } catch {
    return [];
  }
}

/** State and group: the first and third field after the name, which may itself contain spaces and brackets. */
function statOf(pid: string): { readonly state: string; readonly group: number } {
  const stat = readOf(pid, 'stat');
  const [state = '', , group = '0'] = stat.slice(stat.lastIndexOf(')') + 2).split(' ', 3);
  return { state, group: Number(group) };
}

function readOf(pid: string, file: 'environ' | 'stat'): string {
  try {
    return readFileSync(`/proc/${pid}/${file}`, 'latin1');
  } catch {
    return '';
  }
}

function signal(pid: number, name: 'SIGTERM' | 'SIGKILL'): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has gone, or it is not ours to end: the next look tells.
  }
}

async function pause(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms);
  });
}
