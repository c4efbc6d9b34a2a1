import { spawn } from 'node:child_process';
import { writeStdout } from '../../api/stdio.ts';
import type { ScriptStep } from './steps.ts';

/** Plays a step of a broken agent. Returns undefined if it is not such a step. */
export async function misbehave(step: ScriptStep): Promise<'continues' | undefined> {
  switch (step.do) {
    case 'hang':
      return hang();
    case 'crash':
      if (step.with !== undefined) process.exit(step.with);
      process.kill(process.pid, 'SIGKILL');
      return hang();
    case 'print':
      writeStdout(step.with.endsWith('\n') ? step.with : `${step.with}\n`);
      return 'continues';
    case 'flood':
      flood(step.with.bytes ?? 0);
      return 'continues';
    case 'fork':
      spawn('/bin/sh', ['-c', step.with.run], { stdio: 'ignore', detached: step.with.setsid === true }).unref();
      return 'continues';
    case 'ignore':
      if (step.with === 'cancel') return undefined;
      process.on(step.with, () => {});
      return 'continues';
    default:
      return undefined;
  }
}

async function hang(): Promise<never> {
  setInterval(() => {}, 60_000);
  return new Promise(() => {});
}

function flood(bytes: number): void {
  const line = `${'x'.repeat(1023)}\n`;
  const chunk = line.repeat(64);
  for (let left = bytes; left > 0; left -= chunk.length)
    writeStdout(left >= chunk.length ? chunk : chunk.slice(0, left));
}
