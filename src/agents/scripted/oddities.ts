import { spawn } from 'node:child_process';
import { printText } from './mouth.ts';
import type { ScriptStep } from './script.ts';

const MISBEHAVIOURS = ['hang', 'crash', 'print', 'flood', 'fork', 'ignore'] as const;

export type Misbehaviour = Extract<ScriptStep, { do: (typeof MISBEHAVIOURS)[number] }>;

export function isMisbehaviour(step: ScriptStep): step is Misbehaviour {
  return MISBEHAVIOURS.some((name) => name === step.do);
}

/** What agents do that they should not. */
export async function misbehave(step: Misbehaviour): Promise<'goes on'> {
  switch (step.do) {
    case 'hang':
      return hang();
    case 'crash':
      if (step.with !== undefined) process.exit(step.with);
      process.kill(process.pid, 'SIGKILL');
      return hang();
    case 'print':
      printText(step.with.endsWith('\n') ? step.with : `${step.with}\n`);
      return 'goes on';
    case 'flood':
      flood(step.with);
      return 'goes on';
    case 'fork':
      spawn('/bin/sh', ['-c', step.with.run], { stdio: 'ignore', detached: step.with.setsid === true }).unref();
      return 'goes on';
    case 'ignore':
      process.on(step.with, () => {});
      return 'goes on';
  }
}

/** For ever, or until somebody ends it. */
async function hang(): Promise<never> {
  setInterval(() => {}, 60_000);
  return new Promise(() => {});
}

function flood(bytes: number): void {
  const line = `${'x'.repeat(1023)}\n`;
  const chunk = line.repeat(64);
  for (let left = bytes; left > 0; left -= chunk.length) printText(left >= chunk.length ? chunk : chunk.slice(0, left));
}
