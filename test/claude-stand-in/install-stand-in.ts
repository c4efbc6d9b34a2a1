import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Installs the stand-in below `folder` in npm's layout, so that a sandbox shows its files. Returns the folder for the
 * PATH.
 */
export function installStandIn(folder: string): string {
  const [program, bin] = [join(folder, 'node_modules/claude-stand-in'), join(folder, 'bin')];
  cpSync(import.meta.dirname, program, { recursive: true });
  cpSync(join(import.meta.dirname, '../../examples/sample/agents/hand-on.mjs'), join(program, 'hand-on.mjs'));
  mkdirSync(bin);
  symlinkSync(join(program, 'claude'), join(bin, 'claude'));
  return bin;
}
