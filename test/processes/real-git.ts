import { execFileSync } from 'node:child_process';

/** The path of git itself: sessions have a shim on their PATH that restores the fence, and an attack bypasses it. */
export const REAL_GIT: string = execFileSync('/bin/sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
