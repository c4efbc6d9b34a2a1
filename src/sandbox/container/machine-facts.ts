import { readFileSync } from 'node:fs';
import type { OwnLimits } from './container-argv.ts';

/** The limits of this process. Podman lowers its own process limit to the highest pid. */
export function readOwnLimits(): OwnLimits {
  const text = read('/proc/self/limits');
  const highest = Number(read('/proc/sys/kernel/pid_max')) || 32_768;
  const { soft, hard } = limitIn(text, 'Max processes');
  const lower = (limit: number): number => (limit < 0 ? highest : Math.min(limit, highest));
  return { files: limitIn(text, 'Max open files'), processes: { soft: lower(soft), hard: lower(hard) } };
}

function limitIn(text: string, name: string): OwnLimits['files'] {
  const line = text.split('\n').find((each) => each.startsWith(name)) ?? '';
  const [soft = -1, hard = -1] = line
    .slice(name.length)
    .trim()
    .split(/\s+/)
    .map((word) => (/^\d+$/.test(word) ? Number(word) : -1));
  return { soft, hard };
}

/** The folders that are mount points. */
export function readMountPoints(): readonly string[] {
  return read('/proc/self/mountinfo')
    .split('\n')
    .flatMap((line) => line.split(' ')[4] ?? [])
    .map((path) => path.replaceAll(/\\([0-7]{3})/g, (_, code: string) => String.fromCharCode(parseInt(code, 8))));
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
