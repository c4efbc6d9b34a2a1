import { readFileSync } from 'node:fs';

/** How many descriptors this process may have. Node raises the soft limit to the hard one when it starts. */
export function readDescriptorLimit(): number {
  return parseLimits(readLimits()) ?? reportedLimit() ?? ASSUMED_LIMIT;
}

/** From `/proc/self/limits`: `Max open files  256  256  files`. */
export function parseLimits(text: string): number | undefined {
  const soft = /^Max open files\s+(\d+|unlimited)\s/m.exec(text)?.[1];
  if (soft === undefined) return undefined;
  return soft === 'unlimited' ? Infinity : Number(soft);
}

/** What every system allows. */
const ASSUMED_LIMIT = 256;

function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'utf8');
  } catch {
    return '';
  }
}

/** Systems without /proc: the report takes some milliseconds. */
function reportedLimit(): number | undefined {
  const report: unknown = process.report.getReport();
  const limits: unknown = Reflect.get(Object(report), 'userLimits');
  const soft: unknown = Reflect.get(Object(Reflect.get(Object(limits), 'open_files')), 'soft');
  return typeof soft === 'number' ? soft : soft === 'unlimited' ? Infinity : undefined;
}
