import type { SandboxKind, SandboxMode } from '../protocol/sandbox.ts';
import { problem, type Problem } from '../protocol/shape/problem.ts';
import type { NotUsable } from './explain-bubblewrap.ts';
import { byStrength } from './modes.ts';
import type { Probe } from './probe.ts';

export type ChosenMode =
  | { readonly ok: true; readonly kind: SandboxKind; readonly notes: readonly string[] }
  | { readonly ok: false; readonly problem: Problem };

/**
 * Chooses the mode. `auto` takes the strongest mode that works; a container needs an image. Any other mode must work,
 * or the session is refused.
 */
export function chooseMode(mode: SandboxMode, probe: Probe, hasImage: boolean): ChosenMode {
  if (mode === 'none') return { ok: true, kind: 'none', notes: [] };
  const answers = { ...probe, container: hasImage ? probe.container : withoutImage(probe.container) };
  if (mode !== 'auto') {
    const answer = answers[mode];
    if (answer.works) return { ok: true, kind: mode, notes: [] };
    const message = `sandbox = "${mode}" does not work here: ${answer.reason}`;
    return { ok: false, problem: problem('sandbox/unavailable', message, answer.fix) };
  }
  const best = AUTO_MODES.find((kind) => answers[kind].works) ?? 'none';
  return { ok: true, kind: best, notes: answers.bubblewrap.works ? [] : [explainWeaker(best, answers.bubblewrap)] };
}

/** sandbox-exec is not included: macOS calls it deprecated, and Baton cannot test it everywhere. */
const AUTO_MODES = byStrength(['bubblewrap', 'container', 'user']);

function withoutImage(container: Probe['container']): Probe['container'] {
  if (!container.works) return container;
  return {
    works: false,
    reason: 'the project names no image',
    fix: 'Set sandbox.image in baton.toml, or add a .devcontainer/devcontainer.json with an image.',
  };
}

function explainWeaker(kind: SandboxKind, { reason, fix }: NotUsable): string {
  const had = {
    none: 'No sandbox',
    container: 'A container instead of bubblewrap',
    user: 'Another user id instead of bubblewrap',
  } as const;
  const what = kind === 'none' || kind === 'container' || kind === 'user' ? had[kind] : kind;
  return `${what}: ${reason}. ${fix}`;
}
