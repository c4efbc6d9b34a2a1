import { describe, expect, it } from 'vitest';
import { MODEL_CLIENT_NAMES } from '../../protocol/run-plan.ts';
import { PRESETS } from './presets.ts';

describe.each(Object.entries(PRESETS))('the preset %s', (name, preset) => {
  it('has a name that no built-in client has, and a program of its own', () => {
    expect(MODEL_CLIENT_NAMES).not.toContain(name);
    expect(name).toMatch(/^[a-z]+(-acp)?$/);
    expect(preset.argv[0]).toMatch(/^[a-z-]+$/);
  });

  it('names paths below HOME, each in a folder or file of its own', () => {
    const { folders, credentials, settings } = preset.home;
    for (const path of [...folders, ...credentials, ...settings]) expect(path).toMatch(/^\.[\w-]/);
    for (const path of [...folders, ...credentials, ...settings]) expect(path).not.toContain('..');
    expect(folders).not.toHaveLength(0);
  });

  it('may inherit the variable of its login', () => {
    const { authenticate, variables } = preset;
    if (authenticate === undefined) return;
    const isAllowed = variables.some((each) =>
      each.endsWith('*') ? authenticate.variable.startsWith(each.slice(0, -1)) : authenticate.variable === each,
    );
    expect(isAllowed).toBe(true);
  });
});
