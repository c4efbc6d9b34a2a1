import type { Scenario } from './scenario.ts';
import { type RunResult, type Setup, simulate } from './simulation.ts';

/**
 * Makes a failing scenario smaller while it still breaks the same invariant: without faults, with fewer hosts, with
 * honest agents, with fewer people and tasks, and at last with a shorter run.
 */
export function shrink(failed: RunResult, setup: Setup): RunResult {
  let best = failed;
  const tryOne = (scenario: Scenario): boolean => {
    const result = simulate(scenario, setup);
    if (result.violation?.invariant !== failed.violation?.invariant) return false;
    best = result;
    return true;
  };
  for (let round = 0; round < 3; round += 1) {
    const before = best;
    for (const part of ['faults', 'hosts', 'habits', 'acts', 'tasks', 'settings', 'untilMs'] as const) {
      if (part === 'hosts') dropHosts(() => best.scenario, tryOne);
      else if (part === 'settings') plainSettings(() => best.scenario, tryOne);
      else if (part === 'untilMs') {
        while (best.scenario.untilMs > 1000 && tryOne({ ...best.scenario, untilMs: best.scenario.untilMs / 2 }));
      } else dropItems(part, () => best.scenario, tryOne);
    }
    if (best === before) break;
  }
  return best;
}

type TryOne = (scenario: Scenario) => boolean;

function dropItems(part: 'faults' | 'habits' | 'acts' | 'tasks', current: () => Scenario, tryOne: TryOne): void {
  if (part !== 'tasks' && current()[part].length > 1 && tryOne({ ...current(), [part]: [] })) return;
  for (let i = current()[part].length - 1; i >= 0; i -= 1) {
    const scenario = current();
    if (part === 'tasks' && scenario.tasks.length === 1) return;
    tryOne({ ...scenario, [part]: scenario[part].toSpliced(i, 1) });
  }
}

function dropHosts(current: () => Scenario, tryOne: TryOne): void {
  for (let hosts = 1; hosts < current().hosts; hosts += 1) if (tryOne({ ...current(), hosts })) return;
}

function plainSettings(current: () => Scenario, tryOne: TryOne): void {
  const plain = {
    mode: 'autonomous',
    pulls: false,
    protects: false,
    budget: 'none',
    stalls: false,
    adopts: false,
    judges: 'accepted',
    labelled: null,
  } as const;
  for (const [name, value] of Object.entries(plain)) {
    const { settings } = current();
    if (Reflect.get(settings, name) !== value) tryOne({ ...current(), settings: { ...settings, [name]: value } });
  }
}
