import { execFile } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { platform } from 'node:os';
import { promisify } from 'node:util';

/** The child processes of `parent`, read from /proc if it exists, since `ps` is often not installed. */
export async function findChildren(parent: number): Promise<number[]> {
  const pairs = platform() === 'linux' ? await readProc() : await readPs();
  return pairs.filter(([, ppid]) => ppid === parent).map(([pid]) => pid);
}

/** Reports whether a process runs. A zombie accepts signal 0 but is dead. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return platform() !== 'linux' || statOf(readFileSync(`/proc/${pid}/stat`, 'utf8'))[0] !== 'Z';
  } catch {
    return false;
  }
}

async function readProc(): Promise<[number, number][]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const stats = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')));
  return pids.map((pid, index) => [Number(pid), Number(statOf(stats[index] ?? '')[1])]);
}

/**
 * Splits a stat line. State and parent follow the program's name, which is in parentheses and may contain any
 * character.
 */
function statOf(stat: string): string[] {
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}

async function readPs(): Promise<[number, number][]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=']);
  return stdout
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .map(([pid = 0, ppid = 0]) => [pid, ppid]);
}
